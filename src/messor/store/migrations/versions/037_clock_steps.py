"""A step of the clock is noticed, and waits that it made wrong are mended."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "037"
down_revision = "036"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("037_clock_steps.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("037_down.sql"))
