"""Watches, their alerts, and how far the change feed was evaluated for them."""

from alembic import op

revision = "016_watches"
down_revision = "015_plain_columns"
branch_labels = None
depends_on = None

WATCHES = """
CREATE TABLE messor.watches (
  id uuid PRIMARY KEY,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  noun text NOT NULL CHECK (noun IN ('records', 'products', 'pages', 'programs', 'ranks', 'domains')),
  filters jsonb NOT NULL DEFAULT '{}',
  condition jsonb NOT NULL,
  channel text NOT NULL CHECK (channel IN ('mail', 'webhook', 'slack', 'feed')),
  recipient text,
  webhook_id uuid REFERENCES messor.webhooks (id) ON DELETE CASCADE,
  token_hash bytea NOT NULL UNIQUE,
  digest text NOT NULL DEFAULT 'at_once' CHECK (digest IN ('at_once', 'daily', 'weekly')),
  zone text NOT NULL DEFAULT 'UTC',
  hour smallint NOT NULL DEFAULT 8 CHECK (hour BETWEEN 0 AND 23),
  quiet_from smallint CHECK (quiet_from BETWEEN 0 AND 23),
  quiet_to smallint CHECK (quiet_to BETWEEN 0 AND 23),
  is_active boolean NOT NULL DEFAULT false,
  active_since timestamptz,
  swept_at timestamptz,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  CHECK ((channel = 'mail') = (recipient IS NOT NULL)),
  CHECK ((channel IN ('webhook', 'slack')) = (webhook_id IS NOT NULL)),
  CHECK ((quiet_from IS NULL) = (quiet_to IS NULL))
)
"""
ALERTS = """
CREATE TABLE messor.watch_alerts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  watch_id uuid NOT NULL REFERENCES messor.watches (id) ON DELETE CASCADE,
  key text NOT NULL,
  subject text NOT NULL,
  page_id bigint,
  record_id bigint,
  message text NOT NULL,
  url text,
  details jsonb NOT NULL,
  state text NOT NULL CHECK (state IN ('due', 'held', 'dropped', 'sent')),
  due_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  asked_at timestamptz,
  sent_at timestamptz,
  UNIQUE (watch_id, key)
)
"""
POSITION = """
CREATE TABLE messor.watch_position (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  tx xid8 NOT NULL,
  change_id bigint NOT NULL
)
"""


def upgrade() -> None:
    op.execute(WATCHES)
    op.execute("CREATE INDEX watches_sweep ON messor.watches (swept_at) WHERE is_active")
    op.execute(ALERTS)
    op.execute("CREATE INDEX watch_alerts_due ON messor.watch_alerts (due_at) WHERE state = 'due'")
    op.execute("CREATE INDEX watch_alerts_held ON messor.watch_alerts (id) WHERE state = 'held'")
    op.execute(
        "CREATE INDEX watch_alerts_page ON messor.watch_alerts (page_id) WHERE page_id IS NOT NULL"
    )
    op.execute("CREATE INDEX watch_alerts_watch ON messor.watch_alerts (watch_id, id)")
    op.execute(POSITION)
    op.execute("INSERT INTO messor.watch_position (tx, change_id) VALUES ('0', 0)")


def downgrade() -> None:
    op.execute("DROP TABLE messor.watch_position")
    op.execute("DROP TABLE messor.watch_alerts")
    op.execute("DROP TABLE messor.watches")
