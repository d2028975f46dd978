"""Prices that sites ask, approvals to pay them, and payments."""

from alembic import op

revision = "035_prices"
down_revision = "034_price_changes"
branch_labels = None
depends_on = None

QUOTES = """
CREATE TABLE messor.price_quotes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  domain_id uuid NOT NULL REFERENCES messor.domains (id) ON DELETE CASCADE,
  scheme text NOT NULL,
  amount numeric,
  currency text,
  text text NOT NULL,
  page_id bigint,
  times bigint NOT NULL,
  asked_at timestamptz NOT NULL DEFAULT messor.clock(),
  UNIQUE (domain_id, scheme)
)
"""
APPROVALS = """
CREATE TABLE messor.price_approvals (
  id uuid PRIMARY KEY,
  domain_id uuid NOT NULL REFERENCES messor.domains (id) ON DELETE CASCADE,
  currency text NOT NULL,
  per_page numeric NOT NULL CHECK (per_page > 0),
  per_month numeric NOT NULL CHECK (per_month >= per_page),
  reason text NOT NULL,
  approved_by text NOT NULL,
  approved_at timestamptz NOT NULL DEFAULT messor.clock(),
  revoked_by text,
  revoked_at timestamptz,
  CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
)
"""
PAYMENTS = """
CREATE TABLE messor.payments (
  id uuid PRIMARY KEY,
  domain_id uuid NOT NULL REFERENCES messor.domains (id) ON DELETE CASCADE,
  page_id bigint,
  approval_id uuid NOT NULL,
  scheme text NOT NULL,
  currency text NOT NULL,
  amount numeric NOT NULL CHECK (amount >= 0),
  charged numeric CHECK (charged >= 0),
  receipt text,
  adapter text NOT NULL,
  begun_at timestamptz NOT NULL DEFAULT messor.clock(),
  settled_at timestamptz,
  CHECK ((settled_at IS NULL) = (charged IS NULL))
)
"""


def upgrade() -> None:
    op.execute(QUOTES)
    op.execute(APPROVALS)
    op.execute(
        "CREATE UNIQUE INDEX price_approvals_domain ON messor.price_approvals (domain_id)"
        " WHERE revoked_at IS NULL"
    )
    op.execute(PAYMENTS)
    op.execute("CREATE INDEX payments_domain ON messor.payments (domain_id, begun_at DESC)")


def downgrade() -> None:
    op.execute("DROP TABLE messor.payments, messor.price_approvals, messor.price_quotes")
