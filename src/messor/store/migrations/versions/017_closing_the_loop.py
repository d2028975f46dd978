"""Candidates that are crawled, and what came of them."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "017"
down_revision = "016"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("017_closing_the_loop.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("017_down.sql"))
