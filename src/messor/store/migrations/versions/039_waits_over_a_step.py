"""Lanes of reaped workers and holds on services keep their wait over a step of the clock."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "039"
down_revision = "038"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("039_waits_over_a_step.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("039_down.sql"))
