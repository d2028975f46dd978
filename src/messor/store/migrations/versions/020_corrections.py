"""Corrections of records by reviewers, and the rankings learnt from them."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "020"
down_revision = "019"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("020_corrections.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("020_down.sql"))
