"""Crawl hours and bandwidth caps, of domains and of all together."""

from alembic import op

from messor.store.migration_script import use_function

revision = "033_traffic_limits"
down_revision = "032_entities"
branch_labels = None
depends_on = None

HOURS = (
    "crawl_hours text COLLATE \"C\" CHECK (crawl_hours ~ '^(\\d|1\\d|2[0-3])-(\\d|1\\d|2[0-4])$')"
)
ZONE = "time_zone text NOT NULL DEFAULT 'UTC'"
CAP = "megabytes_per_day integer CHECK (megabytes_per_day > 0)"
LIMITS = f"""
CREATE TABLE messor.traffic_limits (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  {HOURS},
  {ZONE},
  {CAP},
  set_by text NOT NULL,
  set_at timestamptz NOT NULL DEFAULT messor.clock()
)
"""
DAYS = """
CREATE TABLE messor.traffic_days (
  scope uuid NOT NULL,
  day date NOT NULL,
  worker_id bigint NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (scope, day, worker_id)
) WITH (fillfactor = 50)
"""
SPENT = """
CREATE TABLE messor.traffic_spent (scope uuid PRIMARY KEY, until timestamptz NOT NULL)
"""
FUNCTIONS = ("shut_until", "closed_until", "all_closed_until", "claim_lanes")


def upgrade() -> None:
    for column in (HOURS, ZONE, CAP):
        op.execute(f"ALTER TABLE messor.domains ADD COLUMN {column}")
    for table in (LIMITS, DAYS, SPENT):
        op.execute(table)
    for name in FUNCTIONS:
        use_function(name, "033")


def downgrade() -> None:
    use_function("claim_lanes", "013")
    op.execute("DROP FUNCTION messor.all_closed_until(timestamptz)")
    op.execute("DROP FUNCTION messor.closed_until(uuid, text, text, timestamptz)")
    op.execute("DROP FUNCTION messor.shut_until(text, text, timestamptz)")
    for table in ("traffic_spent", "traffic_days", "traffic_limits"):
        op.execute(f"DROP TABLE messor.{table}")
    for column in ("megabytes_per_day", "time_zone", "crawl_hours"):
        op.execute(f"ALTER TABLE messor.domains DROP COLUMN {column}")
