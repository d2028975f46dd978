"""Workers as an installation grows: what the broker, retention and sizing need."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "007"
down_revision = "006"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("007_workers.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("007_down.sql"))
