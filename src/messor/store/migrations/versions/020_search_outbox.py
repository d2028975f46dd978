"""Search indexes outside PostgreSQL: which there are, how far each is, and the outbox they read."""

from alembic import op

from messor.store.migration_script import use_function

revision = "020_search_outbox"
down_revision = "019_object_archive"
branch_labels = None
depends_on = None

INDEXES = """
CREATE TABLE messor.search_indexes (
  name text COLLATE "C" PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 200),
  state text NOT NULL CHECK (state IN ('filling', 'live')),
  tx xid8 NOT NULL DEFAULT '0',
  outbox_id bigint NOT NULL DEFAULT 0,
  filled_to bigint NOT NULL DEFAULT 0,
  refused bigint NOT NULL DEFAULT 0,
  last_refusal text,
  trouble text,
  started_at timestamptz NOT NULL DEFAULT messor.clock(),
  live_at timestamptz,
  sent_at timestamptz
)
"""
OUTBOX = """
CREATE TABLE messor.search_outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tx xid8 NOT NULL DEFAULT pg_current_xact_id(),
  page bigint NOT NULL,
  record bigint
) WITH (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.02)
"""
# The name of a trigger, its moment, and the rows it sees.
TRIGGERS = (
    ("search_documents_added", "INSERT", "NEW TABLE AS added"),
    ("search_documents_changed", "UPDATE", "NEW TABLE AS added"),
    ("search_documents_gone", "DELETE", "OLD TABLE AS removed"),
)


def upgrade() -> None:
    op.execute(INDEXES)
    op.execute("CREATE UNIQUE INDEX search_indexes_state ON messor.search_indexes (state)")
    op.execute(OUTBOX)
    op.execute("CREATE INDEX search_outbox_order ON messor.search_outbox (tx, id)")
    op.execute("CREATE INDEX search_outbox_document ON messor.search_outbox (page, record)")
    use_function("note_search", "020")
    for name, moment, rows in TRIGGERS:
        op.execute(
            f"CREATE TRIGGER {name} AFTER {moment} ON messor.search_documents REFERENCING {rows}"
            " FOR EACH STATEMENT EXECUTE FUNCTION messor.note_search()"
        )


def downgrade() -> None:
    for name, *_ in TRIGGERS:
        op.execute(f"DROP TRIGGER {name} ON messor.search_documents")
    op.execute("DROP FUNCTION messor.note_search()")
    op.execute("DROP TABLE messor.search_outbox")
    op.execute("DROP TABLE messor.search_indexes")
