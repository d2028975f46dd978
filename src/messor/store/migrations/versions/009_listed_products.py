"""Products have a confidence, and may be known from a list alone."""

from alembic import op

revision = "009_listed_products"
down_revision = "008_failed_tasks"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        ALTER TABLE messor.products
          ADD COLUMN confidence real NOT NULL DEFAULT 0.5 CHECK (confidence BETWEEN 0 AND 1),
          ADD COLUMN listing_page_id bigint
    """)
    op.execute("""
        UPDATE messor.products p SET confidence = r.confidence
          FROM messor.records r WHERE r.id = p.record_id
    """)


def downgrade() -> None:
    op.execute("ALTER TABLE messor.products DROP COLUMN confidence, DROP COLUMN listing_page_id")
