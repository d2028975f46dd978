"""Which proxies the operator added."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "035"
down_revision = "034"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("035_proxy_trust.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("035_down.sql"))
