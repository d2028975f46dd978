"""The specifications' own names: a schema of views for each, and what writing to them does."""

from pathlib import Path

from messor.store.migration_script import run_scripts, use_function

revision = "007_spec_views"
down_revision = "006_domain_vertical"
branch_labels = None
depends_on = None

HERE = Path(__file__).with_suffix("")
NUMBER = "007"

# Each may call those before it.
FUNCTIONS = (
    "new_id",
    "sql_actor",
    "plain_text",
    "tell",
    "refuse_write",
    "enter_domain",
    "move_domain",
    "plant_url",
    "start_domain",
    "change_terms",
    "hold_domain",
    "write_wellness_domain",
    "write_wellness_job",
    "write_wellness_keyword",
    "write_forager_domain",
    "write_forager_task",
    "write_forager_proxy",
    "write_approval_domain",
    "write_funding_domain",
)
SCHEMAS = ("wellness", "forager", "approval", "funding", "orbit")


def upgrade() -> None:
    run_scripts(HERE / "domain_numbers.sql")
    for name in FUNCTIONS:
        use_function(name, NUMBER)
    run_scripts(*(HERE / f"{schema}.sql" for schema in SCHEMAS))


def downgrade() -> None:
    run_scripts(HERE / "down.sql")
