"""Keys that sign requests, and which key signed a request."""

from alembic import op

revision = "031_identity_keys"
down_revision = "030_scrape_hooks"
branch_labels = None
depends_on = None

KEYS = """
CREATE TABLE messor.identity_keys (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  thumbprint text COLLATE "C" NOT NULL UNIQUE,
  public_key bytea NOT NULL CHECK (length(public_key) = 32),
  sealed_key bytea,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  use_from timestamptz NOT NULL,
  published_until timestamptz
)
"""


def upgrade() -> None:
    op.execute(KEYS)
    op.execute("ALTER TABLE messor.http_fetches ADD COLUMN signed_by integer")


def downgrade() -> None:
    op.execute("ALTER TABLE messor.http_fetches DROP COLUMN signed_by")
    op.execute("DROP TABLE messor.identity_keys")
