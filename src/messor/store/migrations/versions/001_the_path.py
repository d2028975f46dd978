"""The path: domains, hosts, lanes, pages, tasks, fetches, snapshots, ledger and jobs."""

from pathlib import Path

from alembic import op

from messor.store.migration_script import run_script

revision = "001"
down_revision = None
branch_labels = None
depends_on = None

SQL = Path(__file__).with_name("001_the_path.sql")


def upgrade() -> None:
    run_script(SQL)


def downgrade() -> None:
    # Alembic's own table stays in the schema, so its objects go one by one.
    op.execute(
        """
        DO $$
        DECLARE item record;
        BEGIN
          FOR item IN SELECT viewname AS name FROM pg_views WHERE schemaname = 'messor' LOOP
            EXECUTE format('DROP VIEW messor.%I CASCADE', item.name);
          END LOOP;
          FOR item IN SELECT tablename AS name FROM pg_tables
                       WHERE schemaname = 'messor' AND tablename <> 'alembic_version' LOOP
            EXECUTE format('DROP TABLE IF EXISTS messor.%I CASCADE', item.name);
          END LOOP;
          FOR item IN SELECT p.oid::regprocedure AS name FROM pg_proc p
                       JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'messor' LOOP
            EXECUTE format('DROP FUNCTION %s CASCADE', item.name);
          END LOOP;
        END $$
        """
    )
