"""Products that went long ago lie in a table of their own, without the indexes of lists."""

from alembic import op

from messor.store.migration_script import use_function

revision = "027_archived_products"
down_revision = "026_alerts"
branch_labels = None
depends_on = None

ARCHIVED = """
CREATE TABLE messor.archived_products (
  id bigint PRIMARY KEY,
  page_id bigint NOT NULL UNIQUE,
  record_id bigint NOT NULL,
  domain_id uuid NOT NULL,
  archived_at timestamptz NOT NULL DEFAULT messor.clock(),
  product jsonb NOT NULL,
  prices jsonb NOT NULL
) WITH (toast_tuple_target = 128)
"""
BACK = """
INSERT INTO messor.products OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(NULL::messor.products, product)).* FROM messor.archived_products
"""
PRICES_BACK = """
INSERT INTO messor.product_prices
SELECT p.* FROM messor.archived_products a
 CROSS JOIN LATERAL jsonb_populate_recordset(NULL::messor.product_prices, a.prices) p
"""


def upgrade() -> None:
    op.execute(ARCHIVED)
    use_function("leave_tombstones", "027")
    op.execute(
        "CREATE TRIGGER archived_products_gone AFTER DELETE ON messor.archived_products"
        " REFERENCING OLD TABLE AS removed FOR EACH STATEMENT"
        " EXECUTE FUNCTION messor.leave_tombstones('product')"
    )


def downgrade() -> None:
    op.execute(BACK)
    op.execute(PRICES_BACK)
    op.execute("DROP TABLE messor.archived_products")
    use_function("leave_tombstones", "012")
