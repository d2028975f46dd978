"""Seals of the ledger and of the log of requests, and the keys that sign them."""

from alembic import op

from messor.store.migration_script import use_function

revision = "029_seals"
down_revision = "028_retention"
branch_labels = None
depends_on = None

SEALS = """
CREATE TABLE messor.seals (
  seq bigint PRIMARY KEY,
  log text NOT NULL,
  form smallint NOT NULL,
  month date NOT NULL,
  first_id bigint NOT NULL,
  last_id bigint NOT NULL,
  ids bigint[] NOT NULL,
  salts bytea NOT NULL,
  commitments bytea NOT NULL,
  previous bytea NOT NULL,
  head bytea NOT NULL,
  sealed_at text NOT NULL,
  key_id text NOT NULL,
  signature bytea NOT NULL
)
"""
MARKS = """
CREATE TABLE messor.seal_marks (
  log text PRIMARY KEY,
  sealed_to bigint NOT NULL DEFAULT 0,
  mark_id bigint,
  mark_tx bigint
)
"""
REMOVALS = """
CREATE TABLE messor.seal_removals (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  log text NOT NULL,
  row_id bigint,
  month date,
  cause text NOT NULL,
  removed_at timestamptz NOT NULL DEFAULT messor.clock()
)
"""
KEYS = """
CREATE TABLE messor.signing_keys (
  id text COLLATE "C" PRIMARY KEY,
  public_key bytea NOT NULL,
  sealed_key bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT messor.clock()
)
"""
LOGS = ("events", "http_fetches")
CHANGED = (("drop_old_partition", "001"), ("delete_old_rows", "001"), ("forget_pages", "023"))
HERE = "029"


def upgrade() -> None:
    for statement in (SEALS, MARKS, REMOVALS, KEYS):
        op.execute(statement)
    # Hashes and salts do not compress.
    op.execute(
        "ALTER TABLE messor.seals ALTER commitments SET STORAGE EXTERNAL,"
        " ALTER salts SET STORAGE EXTERNAL"
    )
    op.execute("CREATE INDEX seals_rows ON messor.seals (log, last_id)")
    op.execute("CREATE INDEX seal_removals_row ON messor.seal_removals (log, row_id)")
    for name in ("drop_salts", "unseal_month", "unseal_rows", *(name for name, _ in CHANGED)):
        use_function(name, HERE)
    for log in LOGS:
        op.execute(
            f"CREATE INDEX {log}_ids ON messor.{log} USING brin (id) WITH (autosummarize = on)"
        )
        for deed in ("delete", "update"):
            op.execute(
                f"CREATE TRIGGER {log}_unseal_{deed} AFTER {deed.upper()} ON messor.{log}"
                " REFERENCING OLD TABLE AS old_rows"
                " FOR EACH STATEMENT EXECUTE FUNCTION messor.unseal_rows()"
            )


def downgrade() -> None:
    for log in LOGS:
        for deed in ("delete", "update"):
            op.execute(f"DROP TRIGGER {log}_unseal_{deed} ON messor.{log}")
        op.execute(f"DROP INDEX messor.{log}_ids")
    for name, before in CHANGED:
        use_function(name, before)
    op.execute("DROP FUNCTION messor.unseal_rows, messor.unseal_month, messor.drop_salts")
    op.execute(
        "DROP TABLE messor.signing_keys, messor.seal_removals, messor.seal_marks, messor.seals"
    )
