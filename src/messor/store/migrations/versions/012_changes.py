"""The change feed: a narrow log of what changed, filled by triggers; tombstones of what was deleted."""

from alembic import op

from messor.store.migration_script import use_function

revision = "012_changes"
down_revision = "011_exports"
branch_labels = None
depends_on = None

CHANGES = """
CREATE TABLE messor.changes (
  id bigint GENERATED ALWAYS AS IDENTITY,
  tx xid8 NOT NULL DEFAULT pg_current_xact_id(),
  occurred_at timestamptz NOT NULL DEFAULT messor.clock(),
  seen_at timestamptz,
  kind text NOT NULL,
  state text NOT NULL CHECK (state IN ('new', 'changed', 'removed', 'returned', 'erased')),
  topic text,
  was text,
  subject bigint,
  subject_uuid uuid,
  domain_id uuid,
  ref_from bigint,
  ref_to bigint
) PARTITION BY RANGE (occurred_at)
"""
FUNCTIONS = (
    "note_page_changes",
    "note_record_changes",
    "note_domain_events",
    "note_candidates",
    "note_organisations",
    "note_serps",
    "leave_tombstones",
)
# Trigger, table, moment, the rows it sees, function.
NOTED = (
    ("page_changes_noted", "page_changes", "INSERT", "NEW TABLE AS added", "note_page_changes()"),
    (
        "record_changes_noted",
        "record_changes",
        "INSERT",
        "NEW TABLE AS added",
        "note_record_changes()",
    ),
    ("events_noted", "events", "INSERT", "NEW TABLE AS added", "note_domain_events()"),
    ("candidates_noted", "candidates", "INSERT", "NEW TABLE AS added", "note_candidates()"),
    (
        "candidates_moved",
        "candidates",
        "UPDATE",
        "NEW TABLE AS added OLD TABLE AS removed",
        "note_candidates()",
    ),
    (
        "organisations_noted",
        "organisations",
        "INSERT",
        "NEW TABLE AS added",
        "note_organisations()",
    ),
    (
        "organisations_changed",
        "organisations",
        "UPDATE",
        "NEW TABLE AS added OLD TABLE AS removed",
        "note_organisations()",
    ),
    ("serp_snapshots_noted", "serp_snapshots", "INSERT", "NEW TABLE AS added", "note_serps()"),
)
DELETED = {
    "pages": "page",
    "page_snapshots": "snapshot",
    "records": "record",
    "products": "product",
    "candidates": "candidate",
    "organisations": "organisation",
    "serp_snapshots": "serp",
    "domains": "domain",
}
TRIGGERS = NOTED + tuple(
    (f"{table}_gone", table, "DELETE", "OLD TABLE AS removed", f"leave_tombstones('{kind}')")
    for table, kind in DELETED.items()
)


def upgrade() -> None:
    op.execute(CHANGES)
    op.execute("CREATE INDEX changes_order ON messor.changes (tx, id)")
    op.execute("SELECT messor.make_partitions('changes')")
    for name in FUNCTIONS:
        use_function(name, "012")
    for name, table, moment, rows, function in TRIGGERS:
        op.execute(
            f"CREATE TRIGGER {name} AFTER {moment} ON messor.{table} REFERENCING {rows}"
            f" FOR EACH STATEMENT EXECUTE FUNCTION messor.{function}"
        )


def downgrade() -> None:
    for name, table, *_ in TRIGGERS:
        op.execute(f"DROP TRIGGER {name} ON messor.{table}")
    for name in FUNCTIONS:
        op.execute(f"DROP FUNCTION messor.{name}()")
    op.execute("DROP TABLE messor.changes")
