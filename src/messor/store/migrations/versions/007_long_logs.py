"""Long logs: an index by time that costs next to nothing."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "007"
down_revision = "006"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("007_long_logs.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("007_down.sql"))
