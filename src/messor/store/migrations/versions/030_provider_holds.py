"""Services that asked to be left alone, told to every worker."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "030"
down_revision = "029"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("030_provider_holds.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("030_down.sql"))
