"""Uses that domains are approved for, permissions on file, and what was held back."""

from alembic import op

revision = "024_uses"
down_revision = "023_archived_texts"
branch_labels = None
depends_on = None

# The uses of this release; a later one that knows more widens the checks.
KNOWN = """
'search', 'ai-input', 'ai-train', 'tdm', 'archive', 'price-monitoring', 'market-research', 'directory'
""".strip()
USES = f"""
CREATE TABLE messor.domain_uses (
  domain_id uuid PRIMARY KEY REFERENCES messor.domains (id) ON DELETE CASCADE,
  uses text[] NOT NULL CHECK (cardinality(uses) BETWEEN 1 AND 20) CHECK (uses <@ ARRAY[{KNOWN}]),
  set_by text NOT NULL,
  set_at timestamptz NOT NULL DEFAULT messor.clock()
)
"""
PERMISSIONS = rf"""
CREATE TABLE messor.use_permissions (
  id uuid PRIMARY KEY,
  domain_id uuid NOT NULL REFERENCES messor.domains (id) ON DELETE CASCADE,
  use text NOT NULL CHECK (use IN ({KNOWN})),
  basis text NOT NULL CHECK (basis IN ('own_content', 'contract', 'permission')),
  reason text NOT NULL CHECK (btrim(reason, E' \t\r\n') <> '' AND length(reason) <= 2000),
  document_name text CHECK (length(document_name) BETWEEN 1 AND 200),
  document bytea CHECK (length(document) <= 5000000),
  expires_on date,
  granted_by text NOT NULL,
  granted_at timestamptz NOT NULL DEFAULT messor.clock(),
  revoked_by text,
  revoked_at timestamptz,
  CHECK ((document IS NULL) = (document_name IS NULL)),
  CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
)
"""
REFUSALS = f"""
CREATE TABLE messor.use_refusals (
  id bigint GENERATED ALWAYS AS IDENTITY,
  refused_at timestamptz NOT NULL DEFAULT messor.clock(),
  domain_id uuid,
  purpose text NOT NULL CHECK (
    purpose IN ('export', 'feed', 'webhook', 'alert', 'search', 'analytics', 'model', 'agent')),
  use text NOT NULL CHECK (use IN ({KNOWN})),
  reason text NOT NULL CHECK (reason IN ('refused', 'licence', 'unclear', 'not_approved')),
  place text,
  text text,
  items bigint NOT NULL,
  example_page_id bigint
) PARTITION BY RANGE (refused_at)
"""


def upgrade() -> None:
    op.execute(USES)
    op.execute(PERMISSIONS)
    op.execute(
        "CREATE INDEX use_permissions_domain ON messor.use_permissions (domain_id)"
        " WHERE revoked_at IS NULL"
    )
    op.execute(REFUSALS)
    op.execute(
        "CREATE INDEX use_refusals_domain ON messor.use_refusals (domain_id, refused_at DESC)"
    )
    op.execute("SELECT messor.make_partitions('use_refusals')")
    op.execute("CREATE INDEX use_refusals_newest ON messor.use_refusals (id)")
    op.execute("ALTER TABLE messor.robots_files ADD COLUMN usage_lines jsonb")
    op.execute("ALTER TABLE messor.exports ADD COLUMN held bigint NOT NULL DEFAULT 0")
    op.execute("ALTER TABLE messor.api_keys ADD COLUMN uses text[] NOT NULL DEFAULT '{}'")


def downgrade() -> None:
    op.execute("ALTER TABLE messor.exports DROP COLUMN held")
    op.execute("ALTER TABLE messor.api_keys DROP COLUMN uses")
    op.execute("ALTER TABLE messor.robots_files DROP COLUMN usage_lines")
    op.execute("DROP TABLE messor.use_refusals, messor.use_permissions, messor.domain_uses")
