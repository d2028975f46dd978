"""Readings: what models and flags add to the records of a page."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "016"
down_revision = "015"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("016_readings.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("016_down.sql"))
