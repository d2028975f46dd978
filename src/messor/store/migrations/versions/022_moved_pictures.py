"""Pictures that have moved, and where to."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "022"
down_revision = "021"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("022_moved_pictures.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("022_down.sql"))
