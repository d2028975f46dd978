"""Calls of a model that are under way are found at once."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "025"
down_revision = "024"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("025_calls_under_way.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("025_down.sql"))
