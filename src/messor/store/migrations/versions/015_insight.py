"""Insight: search documents, scores of domains and organisations, classes of domains."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "015"
down_revision = "014"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("015_insight.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("015_down.sql"))
