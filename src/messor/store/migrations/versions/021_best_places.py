"""The best place of each domain on a result page, told when it is stored."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "021"
down_revision = "020"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("021_best_places.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("021_down.sql"))
