"""Entities: things merged over the records of many pages and sites."""

from alembic import op

revision = "032_entities"
down_revision = "031_identity_keys"
branch_labels = None
depends_on = None

KINDS = "CHECK (kind IN ('organisation', 'product', 'program', 'service', 'place'))"
TABLES = (
    f"""
CREATE TABLE messor.entities (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL {KINDS},
  state text NOT NULL DEFAULT 'current' CHECK (state IN ('current', 'removed')),
  merged_into bigint,
  title text NOT NULL DEFAULT '',
  data jsonb NOT NULL DEFAULT '{{}}',
  fields jsonb NOT NULL DEFAULT '{{}}',
  domains integer NOT NULL DEFAULT 0,
  statements integer NOT NULL DEFAULT 0,
  records integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  updated_at timestamptz NOT NULL DEFAULT messor.clock()
)
""",
    f"""
CREATE TABLE messor.entity_statements (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL {KINDS},
  domain_id uuid NOT NULL,
  identity_hash bytea NOT NULL,
  entity_id bigint,
  record_id bigint,
  records integer NOT NULL DEFAULT 0,
  features jsonb NOT NULL DEFAULT '{{}}',
  UNIQUE (kind, domain_id, identity_hash)
)
""",
    f"""
CREATE TABLE messor.entity_members (
  record_id bigint NOT NULL,
  kind text NOT NULL {KINDS},
  statement_id bigint NOT NULL,
  PRIMARY KEY (record_id, kind)
)
""",
    """
CREATE TABLE messor.entity_keys (
  key_hash bytea NOT NULL,
  statement_id bigint NOT NULL,
  PRIMARY KEY (key_hash, statement_id)
)
""",
    f"""
CREATE TABLE messor.entity_pairs (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  first bigint NOT NULL,
  second bigint NOT NULL,
  kind text NOT NULL {KINDS},
  score real NOT NULL,
  rule text NOT NULL,
  basis text NOT NULL,
  verdict text CHECK (verdict IN ('same', 'different')),
  decided_by text,
  decided_at timestamptz,
  reason text,
  UNIQUE (first, second),
  CHECK (first < second),
  CHECK ((verdict IS NULL) = (decided_by IS NULL))
)
""",
    """
CREATE TABLE messor.entity_position (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  tx xid8 NOT NULL,
  change_id bigint NOT NULL,
  filled_to bigint
)
""",
)
INDEXES = (
    "entities_updated ON messor.entities (kind, updated_at, id) WHERE state = 'current'",
    "entities_newest ON messor.entities (updated_at, id) WHERE state = 'current'",
    "entities_title ON messor.entities (kind, left(title, 200), id) WHERE state = 'current'",
    "entities_domains ON messor.entities (kind, domains, id) WHERE state = 'current'",
    "entity_statements_entity ON messor.entity_statements (entity_id)",
    "entity_members_statement ON messor.entity_members (statement_id)",
    "entity_keys_statement ON messor.entity_keys (statement_id)",
    "entity_pairs_second ON messor.entity_pairs (second)",
    """entity_pairs_proposed ON messor.entity_pairs (score, id)
       WHERE verdict IS NULL AND score < 0.9::real""",
    "entity_pairs_decided ON messor.entity_pairs (kind, rule) WHERE verdict IS NOT NULL",
)


def upgrade() -> None:
    for table in TABLES:
        op.execute(table)
    for index in INDEXES:
        op.execute(f"CREATE INDEX {index}")
    op.execute("INSERT INTO messor.entity_position (tx, change_id, filled_to) VALUES ('0', 0, 0)")


def downgrade() -> None:
    for name in ("position", "pairs", "keys", "members", "statements"):
        op.execute(f"DROP TABLE messor.entity_{name}")
    op.execute("DROP TABLE messor.entities")
