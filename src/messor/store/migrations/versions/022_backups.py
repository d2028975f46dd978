"""Backups that were made, so that their age is known and what they refer to is kept."""

from alembic import op

revision = "022_backups"
down_revision = "021_commit_order"
branch_labels = None
depends_on = None

BACKUPS = """
CREATE TABLE messor.backups (
  name text COLLATE "C" PRIMARY KEY,
  place text NOT NULL,
  method text NOT NULL CHECK (method IN ('dump', 'base')),
  started_at timestamptz NOT NULL DEFAULT messor.clock(),
  finished_at timestamptz,
  bytes bigint,
  error text,
  removed_at timestamptz
)
"""


def upgrade() -> None:
    op.execute(BACKUPS)


def downgrade() -> None:
    op.execute("DROP TABLE messor.backups")
