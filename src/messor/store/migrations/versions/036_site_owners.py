"""Requests of site owners, proofs of control, and URLs that owners pushed."""

from alembic import op

revision = "036_site_owners"
down_revision = "035_prices"
branch_labels = None
depends_on = None

REQUESTS = """
CREATE TABLE messor.owner_requests (
  id uuid PRIMARY KEY,
  domain text COLLATE "C" NOT NULL,
  wish text NOT NULL CHECK (wish IN ('opt_out', 'erase', 'report')),
  contact text,
  challenge text NOT NULL,
  token_hash bytea NOT NULL UNIQUE,
  source text NOT NULL CHECK (source IN ('form', 'mail')),
  method text CHECK (method IN ('dns', 'file')),
  asked_at timestamptz NOT NULL DEFAULT messor.clock(),
  expires_at timestamptz NOT NULL,
  proved_at timestamptz,
  outcome text,
  CHECK ((proved_at IS NULL) = (method IS NULL))
)
"""
PROOFS = """
CREATE TABLE messor.site_proofs (
  id uuid PRIMARY KEY,
  page_id bigint NOT NULL,
  host text COLLATE "C" NOT NULL,
  expected text NOT NULL,
  purpose text NOT NULL CHECK (purpose IN ('owner', 'push')),
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'proved', 'refused')),
  reason text,
  asked_at timestamptz NOT NULL DEFAULT messor.clock(),
  answered_at timestamptz,
  UNIQUE (host, expected, purpose)
)
"""
PUSHED = """
CREATE TABLE messor.pushed_urls (
  host text COLLATE "C" NOT NULL,
  expected text NOT NULL,
  url text COLLATE "C" NOT NULL,
  pushed_at timestamptz NOT NULL DEFAULT messor.clock(),
  PRIMARY KEY (host, expected, url)
)
"""
KINDS = (
    "DROP CONSTRAINT crawl_tasks_kind_check",
    "ADD CONSTRAINT crawl_tasks_kind_check CHECK (kind IN ({})) NOT VALID",
    "VALIDATE CONSTRAINT crawl_tasks_kind_check",
)
BEFORE = "'page', 'robots', 'sitemap', 'image', 'preflight', 'render'"


def upgrade() -> None:
    op.execute(REQUESTS)
    op.execute(
        "CREATE INDEX owner_requests_domain ON messor.owner_requests (domain, asked_at DESC)"
    )
    op.execute(PROOFS)
    op.execute(
        "CREATE INDEX site_proofs_page ON messor.site_proofs (page_id) WHERE state = 'waiting'"
    )
    op.execute(PUSHED)
    _allow(f"{BEFORE}, 'proof'")


def downgrade() -> None:
    op.execute("DELETE FROM messor.crawl_tasks WHERE kind = 'proof'")
    _allow(BEFORE)
    op.execute("DROP TABLE messor.pushed_urls, messor.site_proofs, messor.owner_requests")


def _allow(kinds: str) -> None:
    for change in KINDS:
        op.execute(f"ALTER TABLE messor.crawl_tasks {change.format(kinds)}")
