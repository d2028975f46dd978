"""The schedule: who leads, what runs when, and what was overridden."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "005"
down_revision = "004"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("005_schedule.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("005_down.sql"))
