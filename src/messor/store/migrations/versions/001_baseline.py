"""The baseline: every table, index, view, trigger and function, as SQL by room.

It replaced migrations 001 to 039; `messor.store.squashed` takes a database over that is at 039.
Its scripts are frozen: a change to the schema is a new migration.
"""

from pathlib import Path

from alembic import op

from messor.store.migration_script import run_scripts

revision = "001_baseline"
down_revision = None
branch_labels = None
depends_on = None

HERE = Path(__file__).with_suffix("")
FUNCTIONS = HERE.parents[1] / "functions"

# From the lowest room to the highest: a table refers to tables above it in this list.
ROOMS = (
    "jobs",
    "ledger",
    "access",
    "registry",
    "verticals",
    "politeness",
    "frontier",
    "fetch",
    "archive",
    "parsers",
    "ai",
    "records",
    "scout",
    "insight",
    "governance",
    "extraction",
    "ingest",
    "schedule",
    "ops",
)


def upgrade() -> None:
    functions = sorted(FUNCTIONS.glob("*.001.sql"))
    run_scripts(HERE / "store.sql", *functions, *(HERE / f"{room}.sql" for room in ROOMS))


def downgrade() -> None:
    # Alembic's own table stays in the schema, so its objects go one by one.
    op.execute(
        """
        DO $$
        DECLARE item record;
        BEGIN
          FOR item IN SELECT viewname AS name FROM pg_views WHERE schemaname = 'messor' LOOP
            EXECUTE format('DROP VIEW IF EXISTS messor.%I CASCADE', item.name);
          END LOOP;
          FOR item IN SELECT tablename AS name FROM pg_tables
                       WHERE schemaname = 'messor' AND tablename <> 'alembic_version' LOOP
            EXECUTE format('DROP TABLE IF EXISTS messor.%I CASCADE', item.name);
          END LOOP;
          FOR item IN SELECT p.oid::regprocedure AS name FROM pg_proc p
                       JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'messor' LOOP
            EXECUTE format('DROP FUNCTION IF EXISTS %s CASCADE', item.name);
          END LOOP;
        END $$
        """
    )
