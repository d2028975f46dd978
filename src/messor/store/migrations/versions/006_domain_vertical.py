"""The vertical that a domain was submitted or approved for."""

from alembic import op

revision = "006_domain_vertical"
down_revision = "005_next_provider"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute('ALTER TABLE messor.domains ADD COLUMN vertical text COLLATE "C"')
    op.execute('ALTER TABLE messor.domain_submissions ADD COLUMN vertical text COLLATE "C"')


def downgrade() -> None:
    op.execute("ALTER TABLE messor.domain_submissions DROP COLUMN vertical")
    op.execute("ALTER TABLE messor.domains DROP COLUMN vertical")
