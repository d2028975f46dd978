"""Search folds more letters, and finds words where nothing stands between them."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "024"
down_revision = "023"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("024_folded_letters.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("024_down.sql"))
