"""Pages that search lost in an earlier downgrade are indexed again."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "038"
down_revision = "037"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("038_search_again.sql"))


def downgrade() -> None:
    """What waits to be indexed stays: there is nothing to take back."""
