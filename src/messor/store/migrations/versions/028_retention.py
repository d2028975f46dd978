"""Retention: rules that remove old snapshots, and holds."""

from alembic import op

revision = "028_retention"
down_revision = "027_archived_products"
branch_labels = None
depends_on = None

RULES = """
CREATE TABLE messor.retention_rules (
  id uuid PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  domain text COLLATE "C",
  vertical text COLLATE "C",
  outcome text NOT NULL DEFAULT 'any' CHECK (outcome IN ('any', 'good', 'bad')),
  days integer CHECK (days BETWEEN 0 AND 36500),
  versions integer CHECK (versions BETWEEN 1 AND 100000),
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  CHECK (days IS NOT NULL OR versions IS NOT NULL)
)
"""
HOLDS = """
CREATE TABLE messor.retention_holds (
  id uuid PRIMARY KEY,
  domain text COLLATE "C" NOT NULL,
  url text COLLATE "C",
  reason text NOT NULL,
  held_by text NOT NULL,
  held_at timestamptz NOT NULL DEFAULT messor.clock()
)
"""


def upgrade() -> None:
    op.execute(RULES)
    op.execute(HOLDS)
    op.execute("CREATE INDEX retention_holds_domain ON messor.retention_holds (domain)")


def downgrade() -> None:
    op.execute("DROP TABLE messor.retention_holds")
    op.execute("DROP TABLE messor.retention_rules")
