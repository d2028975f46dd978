"""Prices in the order in which they were seen, over all products."""

from alembic import op

revision = "034_price_changes"
down_revision = "033_traffic_limits"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE INDEX product_prices_seen ON messor.product_prices (seen_at, product_id)")


def downgrade() -> None:
    op.execute("DROP INDEX messor.product_prices_seen")
