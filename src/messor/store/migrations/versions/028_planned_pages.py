"""Pages of an ingestion say when they were planned: what lay in the cache is judged as of then."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "028"
down_revision = "027"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("028_planned_pages.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("028_down.sql"))
