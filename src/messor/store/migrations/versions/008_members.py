"""Members, their sessions, API keys and failed logins."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "008"
down_revision = "007"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("008_members.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("008_down.sql"))
