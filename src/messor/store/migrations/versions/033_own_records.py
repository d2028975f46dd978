"""Every snapshot has a record of its own; one whose bytes are another page's can be told."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "033"
down_revision = "032"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("033_own_records.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("033_down.sql"))
