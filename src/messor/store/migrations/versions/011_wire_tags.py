"""Bytes as they came: a short name for them, to know them again before they are unpacked."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "011"
down_revision = "010"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("011_wire_tags.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("011_down.sql"))
