"""Scout: verticals, organisations, keywords, result pages, what searches cost, candidates."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "013"
down_revision = "012"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("013_scout.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("013_down.sql"))
