"""The API: answers that are given again to whoever asks twice, and webhooks."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "012"
down_revision = "011"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("012_api.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("012_down.sql"))
