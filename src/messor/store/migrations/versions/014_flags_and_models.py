"""Relevance of pages, what reviewers say of it, models learnt from that; calls of outside models."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "014"
down_revision = "013"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("014_flags_and_models.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("014_down.sql"))
