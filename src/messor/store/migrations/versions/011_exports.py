"""Exports and the positions they have reached."""

from alembic import op

revision = "011_exports"
down_revision = "010_mail"
branch_labels = None
depends_on = None

EXPORTS = """
CREATE TABLE messor.exports (
  id uuid PRIMARY KEY,
  noun text NOT NULL,
  format text NOT NULL,
  filters jsonb NOT NULL DEFAULT '{}',
  options jsonb NOT NULL DEFAULT '{}',
  since text,
  since_tx xid8,
  since_at timestamptz,
  position xid8 NOT NULL,
  target text,
  state text NOT NULL DEFAULT 'queued'
    CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled', 'removed')),
  after jsonb,
  is_read boolean NOT NULL DEFAULT false,
  rows bigint NOT NULL DEFAULT 0,
  spool_bytes bigint NOT NULL DEFAULT 0,
  file_bytes bigint,
  file_hash bytea,
  error text,
  job_id uuid,
  requested_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  updated_at timestamptz NOT NULL DEFAULT messor.clock(),
  finished_at timestamptz,
  CHECK ((finished_at IS NOT NULL) = (state IN ('done', 'failed', 'cancelled', 'removed')))
)
"""


def upgrade() -> None:
    op.execute(EXPORTS)
    op.execute("CREATE INDEX exports_newest ON messor.exports (created_at, id)")


def downgrade() -> None:
    op.execute("DROP TABLE messor.exports")
