"""The outbox: hints for the broker, written in the transaction that asks for the job."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "006"
down_revision = "005"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("006_outbox.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("006_down.sql"))
