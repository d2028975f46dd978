"""Keys of pages and tasks are checked by the statement, not by the row."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "023"
down_revision = "022"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("023_keys_by_statement.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("023_down.sql"))
