"""A switch that halts all traffic to sites."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "027"
down_revision = "026"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("027_traffic_halts.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("027_down.sql"))
