"""Crawl tasks in people's hands: batches, pause and resume, cadence from change."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "004"
down_revision = "003"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("004_tasks.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("004_down.sql"))
