"""Policies of API keys, scrape jobs with their pages, and the scope of a crawl run."""

from alembic import op

from messor.store.migration_script import use_function

revision = "025_scrape_jobs"
down_revision = "024_uses"
branch_labels = None
depends_on = None

POLICIES = """
CREATE TABLE messor.key_policies (
  key_id uuid PRIMARY KEY REFERENCES messor.api_keys (id) ON DELETE CASCADE,
  domains text[] NOT NULL,
  max_depth smallint NOT NULL CHECK (max_depth BETWEEN 0 AND 100),
  pages_a_day integer NOT NULL CHECK (pages_a_day BETWEEN 1 AND 1000000),
  set_by text NOT NULL,
  set_at timestamptz NOT NULL DEFAULT messor.clock()
)
"""
USAGE = """
CREATE TABLE messor.key_usage (
  key_id uuid NOT NULL REFERENCES messor.api_keys (id) ON DELETE CASCADE,
  day date NOT NULL,
  pages integer NOT NULL DEFAULT 0 CHECK (pages >= 0),
  PRIMARY KEY (key_id, day)
)
"""
JOBS = """
CREATE TABLE messor.scrape_jobs (
  id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('scrape', 'crawl', 'batch')),
  actor text NOT NULL,
  key_id uuid,
  url text NOT NULL,
  domain_id uuid,
  run_id uuid,
  fingerprint bytea,
  options jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'scraping'
    CHECK (status IN ('scraping', 'completed', 'failed', 'cancelled')),
  code text,
  error text,
  reserved integer NOT NULL DEFAULT 0 CHECK (reserved >= 0),
  audit text,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  ended_at timestamptz,
  expires_at timestamptz NOT NULL,
  kept_until timestamptz NOT NULL DEFAULT messor.clock()
)
"""
PAGES = """
CREATE TABLE messor.scrape_job_pages (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job_id uuid NOT NULL REFERENCES messor.scrape_jobs (id) ON DELETE CASCADE,
  url text NOT NULL,
  page_id bigint REFERENCES messor.pages (id) ON DELETE CASCADE,
  hops smallint NOT NULL DEFAULT 0,
  place integer,
  snapshot_id bigint,
  code text,
  error text,
  done_at timestamptz
)
"""


def upgrade() -> None:
    op.execute(POLICIES)
    op.execute(USAGE)
    op.execute(JOBS)
    op.execute(
        "CREATE INDEX scrape_jobs_open ON messor.scrape_jobs (kept_until) WHERE ended_at IS NULL"
    )
    op.execute(
        "CREATE INDEX scrape_jobs_asked ON messor.scrape_jobs (actor, fingerprint, created_at)"
    )
    op.execute("CREATE INDEX scrape_jobs_expired ON messor.scrape_jobs (expires_at)")
    op.execute(PAGES)
    op.execute(
        "CREATE UNIQUE INDEX scrape_job_pages_place ON messor.scrape_job_pages (job_id, place)"
    )
    op.execute("CREATE INDEX scrape_job_pages_page ON messor.scrape_job_pages (page_id)")
    op.execute("ALTER TABLE messor.crawl_runs ADD COLUMN scope jsonb")
    use_function("run_takes", "025")


def downgrade() -> None:
    op.execute("DROP FUNCTION messor.run_takes(jsonb, text, text)")
    op.execute("ALTER TABLE messor.crawl_runs DROP COLUMN scope")
    op.execute("DROP TABLE messor.scrape_job_pages")
    op.execute("DROP TABLE messor.scrape_jobs")
    op.execute("DROP TABLE messor.key_usage")
    op.execute("DROP TABLE messor.key_policies")
