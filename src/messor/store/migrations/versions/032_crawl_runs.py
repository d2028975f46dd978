"""Crawl runs: the limits of one crawl belong to it, and not to its domain."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "032"
down_revision = "031"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("032_crawl_runs.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("032_down.sql"))
