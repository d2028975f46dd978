"""Webhooks of scrape jobs with their secrets, stored extractions, and monitors with their checks."""

from alembic import op

revision = "030_scrape_hooks"
down_revision = "029_seals"
branch_labels = None
depends_on = None

SECRETS = """
CREATE TABLE messor.hook_secrets (
  key_id uuid PRIMARY KEY REFERENCES messor.api_keys (id) ON DELETE CASCADE,
  secret bytea NOT NULL,
  made_at timestamptz NOT NULL DEFAULT messor.clock()
)
"""
MONITORS = """
CREATE TABLE messor.monitors (
  id uuid PRIMARY KEY,
  key_id uuid NOT NULL REFERENCES messor.api_keys (id) ON DELETE CASCADE,
  name text NOT NULL,
  is_active boolean NOT NULL DEFAULT true,
  cron text NOT NULL,
  zone text NOT NULL,
  targets jsonb NOT NULL,
  hook bytea,
  goal text,
  next_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  updated_at timestamptz NOT NULL DEFAULT messor.clock()
)
"""
CHECKS = """
CREATE TABLE messor.monitor_checks (
  id uuid PRIMARY KEY,
  monitor_id uuid NOT NULL REFERENCES messor.monitors (id) ON DELETE CASCADE,
  is_manual boolean NOT NULL,
  jobs uuid[] NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'completed', 'partial', 'failed')),
  error text,
  counts jsonb NOT NULL DEFAULT '{}',
  started_at timestamptz NOT NULL DEFAULT messor.clock(),
  finished_at timestamptz
)
"""
KINDS = "ALTER TABLE messor.scrape_jobs ADD CONSTRAINT scrape_jobs_kind_check CHECK (kind IN ({}))"


def upgrade() -> None:
    op.execute("ALTER TABLE messor.scrape_jobs DROP CONSTRAINT scrape_jobs_kind_check")
    op.execute(KINDS.format("'scrape', 'crawl', 'batch', 'extract'"))
    op.execute("ALTER TABLE messor.scrape_jobs ADD COLUMN hook bytea, ADD COLUMN result jsonb")
    op.execute(
        "ALTER TABLE messor.scrape_job_pages ADD COLUMN is_told boolean NOT NULL DEFAULT false"
    )
    op.execute(SECRETS)
    op.execute(MONITORS)
    op.execute("CREATE INDEX monitors_due ON messor.monitors (next_at) WHERE is_active")
    op.execute("CREATE INDEX monitors_key ON messor.monitors (key_id)")
    op.execute(CHECKS)
    op.execute(
        "CREATE INDEX monitor_checks_monitor ON messor.monitor_checks (monitor_id, started_at)"
    )
    op.execute(
        "CREATE INDEX monitor_checks_running ON messor.monitor_checks (started_at) "
        "WHERE finished_at IS NULL"
    )


def downgrade() -> None:
    op.execute("DROP TABLE messor.monitor_checks")
    op.execute("DROP TABLE messor.monitors")
    op.execute("DROP TABLE messor.hook_secrets")
    op.execute("ALTER TABLE messor.scrape_job_pages DROP COLUMN is_told")
    op.execute("ALTER TABLE messor.scrape_jobs DROP COLUMN hook, DROP COLUMN result")
    op.execute("DELETE FROM messor.scrape_jobs WHERE kind = 'extract'")
    op.execute("ALTER TABLE messor.scrape_jobs DROP CONSTRAINT scrape_jobs_kind_check")
    op.execute(KINDS.format("'scrape', 'crawl', 'batch'"))
