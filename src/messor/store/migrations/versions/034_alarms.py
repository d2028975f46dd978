"""Alarms of running processes, for whoever looks."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "034"
down_revision = "033"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("034_alarms.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("034_down.sql"))
