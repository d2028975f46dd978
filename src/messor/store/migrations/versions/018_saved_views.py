"""Saved views of lists."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "018"
down_revision = "017"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("018_saved_views.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("018_down.sql"))
