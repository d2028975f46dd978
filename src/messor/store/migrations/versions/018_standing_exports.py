"""Standing exports: made on a schedule and delivered to a place that the settings name."""

from alembic import op

revision = "018_standing_exports"
down_revision = "017_overrides"
branch_labels = None
depends_on = None

STANDING = """
CREATE TABLE messor.standing_exports (
  id uuid PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  noun text NOT NULL,
  format text NOT NULL,
  filters jsonb NOT NULL DEFAULT '{}',
  options jsonb NOT NULL DEFAULT '{}',
  cadence text NOT NULL,
  place text NOT NULL,
  is_incremental boolean NOT NULL DEFAULT false,
  is_active boolean NOT NULL DEFAULT true,
  next_run_at timestamptz NOT NULL,
  problem text,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT messor.clock()
)
"""
EXPORTS = """
ALTER TABLE messor.exports
  ADD COLUMN standing_id uuid REFERENCES messor.standing_exports (id) ON DELETE SET NULL,
  ADD COLUMN place text,
  ADD COLUMN delivered_as text,
  ADD CHECK (delivered_as IS NULL OR place IS NOT NULL)
"""


def upgrade() -> None:
    op.execute(STANDING)
    op.execute(
        "CREATE INDEX standing_exports_due ON messor.standing_exports (next_run_at) WHERE is_active"
    )
    op.execute(EXPORTS)
    op.execute(
        "CREATE INDEX exports_standing ON messor.exports (standing_id) WHERE standing_id IS NOT NULL"
    )


def downgrade() -> None:
    op.execute("DROP INDEX messor.exports_standing")
    op.execute(
        "ALTER TABLE messor.exports DROP COLUMN standing_id, DROP COLUMN delivered_as, DROP COLUMN place"
    )
    op.execute("DROP TABLE messor.standing_exports")
