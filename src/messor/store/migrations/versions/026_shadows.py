"""Candidates may shadow what reads, on pages as they come in."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "026"
down_revision = "025"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("026_shadows.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("026_down.sql"))
