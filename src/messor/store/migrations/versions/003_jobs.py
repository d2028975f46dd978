"""Jobs in full: reasons of dead letters, history, what people do with them."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "003"
down_revision = "002"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("003_jobs.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("003_down.sql"))
