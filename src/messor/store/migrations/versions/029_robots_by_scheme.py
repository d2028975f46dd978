"""Robots in force by scheme, and hosts that are talked to over http because https is not there."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "029"
down_revision = "028"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("029_robots_by_scheme.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("029_down.sql"))
