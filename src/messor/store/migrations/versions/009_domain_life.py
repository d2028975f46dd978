"""The life of a domain: submissions, notes, pre-flight, back-off, erasure."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "009"
down_revision = "008"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("009_domain_life.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("009_down.sql"))
