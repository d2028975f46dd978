"""Lists that answer at once over millions of rows."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "019"
down_revision = "018"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("019_lists_at_scale.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("019_down.sql"))
