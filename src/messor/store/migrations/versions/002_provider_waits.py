"""How often in a row a page waited for a provider that was not available."""

from alembic import op

revision = "002_provider_waits"
down_revision = "001_baseline"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE messor.crawl_tasks ADD COLUMN waits smallint NOT NULL DEFAULT 0")


def downgrade() -> None:
    op.execute("ALTER TABLE messor.crawl_tasks DROP COLUMN waits")
