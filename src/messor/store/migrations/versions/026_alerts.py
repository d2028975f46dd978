"""Alerts that were told, so that each is told once."""

from alembic import op

revision = "026_alerts"
down_revision = "025_scrape_jobs"
branch_labels = None
depends_on = None

ALERTS = """
CREATE TABLE messor.alerts (
  name text COLLATE "C" PRIMARY KEY,
  message text NOT NULL,
  raised_at timestamptz NOT NULL DEFAULT messor.clock(),
  ended_at timestamptz
)
"""


def upgrade() -> None:
    op.execute(ALERTS)


def downgrade() -> None:
    op.execute("DROP TABLE messor.alerts")
