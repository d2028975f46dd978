"""Two-factor login, and identities at an OpenID Connect provider."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "031"
down_revision = "030"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    run_script(HERE.with_name("031_second_factor.sql"))


def downgrade() -> None:
    run_script(HERE.with_name("031_down.sql"))
