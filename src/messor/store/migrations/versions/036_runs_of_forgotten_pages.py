"""A page that is forgotten takes the runs along that name it."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "036"
down_revision = "035"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("036_runs_of_forgotten_pages.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("036_down.sql"))
