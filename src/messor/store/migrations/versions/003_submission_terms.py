"""The delay that a submission proposes; when a page of a host was last fetched well."""

from alembic import op

revision = "003_submission_terms"
down_revision = "002_provider_waits"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "ALTER TABLE messor.domain_submissions"
        " ADD COLUMN crawl_delay_seconds real CHECK (crawl_delay_seconds >= 0)"
    )
    op.execute("ALTER TABLE messor.hosts ADD COLUMN last_good_at timestamptz")
    # The best that is known of earlier visits.
    op.execute(
        """
        UPDATE messor.hosts h SET last_good_at = t.fetched_at
          FROM (SELECT host_id, max(last_fetched_at) AS fetched_at FROM messor.crawl_tasks
                 WHERE kind = 'page' AND outcome IN ('ok', 'unchanged') GROUP BY 1) t
         WHERE h.id = t.host_id
        """
    )


def downgrade() -> None:
    op.execute("ALTER TABLE messor.hosts DROP COLUMN last_good_at")
    op.execute("ALTER TABLE messor.domain_submissions DROP COLUMN crawl_delay_seconds")
