"""The governed fetch: risk and friction, sitemaps, providers, proxies, orbits and their runs."""

from pathlib import Path

from messor.store.migration_script import run_script

revision = "002"
down_revision = "001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_script(Path(__file__).with_name("002_the_governed_fetch.sql"))


def downgrade() -> None:
    run_script(Path(__file__).with_name("002_down.sql"))
