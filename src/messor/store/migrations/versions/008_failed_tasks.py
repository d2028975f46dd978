"""Failed tasks: rounds of failures, the category of the last error; status `skipped`.

The view derives `downloaded` and `parsing` from the extraction queue. A row that is being extracted
is locked by a transaction that is under way: one that the current snapshot lists, or a later one.
"""

from alembic import op

revision = "008_failed_tasks"
down_revision = "007_spec_views"
branch_labels = None
depends_on = None

_STATUS = """
ALTER TABLE messor.crawl_tasks DROP CONSTRAINT crawl_tasks_status_check;
ALTER TABLE messor.crawl_tasks ADD CONSTRAINT crawl_tasks_status_check CHECK (status IN ({}))
"""
_VIEW = """
CREATE {replace} VIEW messor.crawl_task_status AS
SELECT t.page_id, t.host_id, h.domain_id, p.url, encode(p.url_hash, 'hex') AS url_hash, t.kind,
       CASE WHEN t.status IN ('paused', 'cancelled') THEN t.status
            WHEN NOT d.active AND t.due_at IS NOT NULL THEN 'paused'{unread}
            WHEN t.status <> 'pending' AND t.due_at > messor.clock() THEN t.status
            WHEN l.worker_id IS NOT NULL AND t.due_at <= messor.clock() THEN 'crawling'
            WHEN t.due_at <= messor.clock() THEN 'queued'
            ELSE t.status END AS status,
       t.outcome, t.priority, coalesce(t.due_at, t.held_due_at) AS scheduled_at,
       t.due_at AS next_crawl_at, t.retry_count,
       t.max_retries, t.crawl_frequency, t.last_fetched_at AS last_crawled_at, t.completed_at,
       t.last_status AS last_http_status, t.refusal, t.error_message, t.history,
       d.track_level, d.scrape_frequency_hours{more}
  FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id
  JOIN messor.hosts h ON h.id = t.host_id JOIN messor.lanes l ON l.host_id = t.host_id
  JOIN messor.domains d ON d.id = h.domain_id
"""
_UNREAD = """
            WHEN t.status = 'completed' AND coalesce(t.due_at > messor.clock(), true)
                 AND EXISTS (SELECT FROM messor.extraction_due q
                              WHERE q.page_id = t.page_id AND q.cause = 'page')
            THEN CASE WHEN EXISTS (
                   SELECT FROM messor.extraction_due q
                    CROSS JOIN LATERAL (SELECT pg_current_snapshot() AS now,
                                               q.xmax::text::bigint AS locker) x
                    WHERE q.page_id = t.page_id AND q.cause = 'page' AND x.locker <> 0
                      AND ((x.locker - pg_snapshot_xmax(x.now)::text::bigint) & 4294967295 < 2147483648
                           OR EXISTS (SELECT FROM pg_snapshot_xip(x.now) AS p (xid)
                                       WHERE (p.xid::text::bigint & 4294967295) = x.locker)))
                 THEN 'parsing' ELSE 'downloaded' END"""


def upgrade() -> None:
    op.execute("ALTER TABLE messor.crawl_tasks ADD COLUMN rounds smallint NOT NULL DEFAULT 0")
    op.execute("ALTER TABLE messor.crawl_tasks ADD COLUMN error_category text")
    _set_statuses("'pending', 'completed', 'failed', 'skipped', 'paused', 'cancelled'")
    op.execute(
        "CREATE INDEX crawl_tasks_failed ON messor.crawl_tasks (last_fetched_at, page_id)"
        " WHERE status = 'failed'"
    )
    op.execute(
        _VIEW.format(
            replace="OR REPLACE", unread=_UNREAD, more=",\n       t.error_category, t.rounds"
        )
    )


def downgrade() -> None:
    op.execute("DROP VIEW messor.crawl_task_status")
    op.execute(_VIEW.format(replace="", unread="", more=""))
    op.execute("DROP INDEX messor.crawl_tasks_failed")
    op.execute("UPDATE messor.crawl_tasks SET status = 'completed' WHERE status = 'skipped'")
    _set_statuses("'pending', 'completed', 'failed', 'paused', 'cancelled'")
    op.execute("ALTER TABLE messor.crawl_tasks DROP COLUMN error_category")
    op.execute("ALTER TABLE messor.crawl_tasks DROP COLUMN rounds")


def _set_statuses(statuses: str) -> None:
    for statement in _STATUS.format(statuses).split(";"):
        op.execute(statement)
