"""What requests to a domain through a proxy cost, by the hour."""

from alembic import op

revision = "014_proxy_costs"
down_revision = "013_domain_priority"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE messor.proxy_requests ADD COLUMN cost numeric NOT NULL DEFAULT 0")


def downgrade() -> None:
    op.execute("ALTER TABLE messor.proxy_requests DROP COLUMN cost")
