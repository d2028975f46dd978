"""The provider a task continues with after a pause, and the hash of the shell it was needed for."""

from alembic import op

revision = "005_next_provider"
down_revision = "004_keywords_and_cadence"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE messor.crawl_tasks ADD COLUMN next_provider text")
    op.execute("ALTER TABLE messor.crawl_tasks ADD COLUMN shell_hash bytea")


def downgrade() -> None:
    op.execute("ALTER TABLE messor.crawl_tasks DROP COLUMN shell_hash")
    op.execute("ALTER TABLE messor.crawl_tasks DROP COLUMN next_provider")
