"""Records, their fields' history, products, images and prices."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "010"
down_revision = "009"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("010_records.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("010_down.sql"))
