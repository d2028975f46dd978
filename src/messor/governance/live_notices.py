"""Live notices: tells submitters once that the first pages of their domain were read.

Not at the first page, but when the first crawl has come to rest, or after an hour of it.
"""

from __future__ import annotations

from datetime import timedelta

from messor.core.plurals import counted
from messor.governance import notices
from messor.governance.notices import Notices
from messor.registry import domains
from messor.store.database import Connection

ACTOR = "system"
PATIENCE = timedelta(hours=1)

LIVE = """
SELECT d.domain, (SELECT count(*) FROM messor.extractions x
                   WHERE x.domain_id = d.id AND x.snapshot_id IS NOT NULL) AS pages
  FROM messor.domains d
 WHERE d.status = 'approved' AND d.active
   AND d.id IN (SELECT s.domain_id FROM messor.domain_submissions s WHERE s.live_told_at IS NULL)
   AND EXISTS (SELECT FROM messor.extractions x
                WHERE x.domain_id = d.id AND x.snapshot_id IS NOT NULL)
   AND (d.reviewed_at < (SELECT messor.clock()) - $2::interval OR NOT EXISTS (
     SELECT FROM messor.hosts h JOIN messor.crawl_tasks t ON t.host_id = h.id
       LEFT JOIN messor.extraction_due q ON q.page_id = t.page_id
      WHERE h.domain_id = d.id AND t.kind = 'page'
        AND (t.due_at <= (SELECT messor.clock()) OR q.page_id IS NOT NULL)))
 ORDER BY d.domain LIMIT $1
"""
TOLD = """
UPDATE messor.domain_submissions SET live_told_at = messor.clock()
 WHERE domain_id = $1 AND live_told_at IS NULL
"""


async def tell_live(connection: Connection, told: Notices, limit: int) -> int:
    """Tell the submitters of domains whose first crawl is over; returns how many domains."""
    rows = await connection.fetch(LIVE, limit, PATIENCE)
    for row in rows:
        domain = await domains.lock(connection, row["domain"])
        pages = counted(row["pages"], "page")
        await notices.tell(connection, told, domain, "pages_live", actor=ACTOR, pages=pages)
        await connection.execute(TOLD, domain.id)
    return len(rows)
