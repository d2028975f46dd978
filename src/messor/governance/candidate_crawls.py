"""Phase 2: crawls candidates of approved domains and queues them for review once extracted.

Each function handles a bounded number of candidates in the caller's transaction and depends only on
stored state, so it can be repeated or interrupted anywhere. The page is an ordinary crawl task; a
failure is stored with the candidate and retried later.
"""

from __future__ import annotations

from typing import Any

from messor.errors import ConflictError, UsageError
from messor.governance import intake, rest
from messor.ledger.events import Event, record
from messor.registry import domains, processing
from messor.registry.domains import MAX_REASON, checked
from messor.registry.life import PROCESSING, back_off
from messor.registry.submissions import Submitter
from messor.scout import candidates
from messor.scout.candidates import Candidate
from messor.store.database import Connection
from messor.web.urls import parse, url_hash

ACTOR = "system"
ASKER = Submitter(ACTOR, "system")
MAX_HOPS = 10
TECHNICAL = frozenset({"error", "timeout"})  # outcomes that concern the host, not the page

ASKED = """
UPDATE messor.candidates SET page_id = $2, submitted_at = messor.clock(), retry_after = NULL,
       updated_at = messor.clock()
 WHERE id = $1 AND status = 'PENDING_CRAWL'
"""
LEADS_ON = """
UPDATE messor.candidates SET page_id = $2, updated_at = messor.clock()
 WHERE id = $1 AND status = 'PENDING_CRAWL'
"""
FAILED = """
UPDATE messor.candidates
   SET page_id = NULL, crawl_note = $2, crawl_failures = crawl_failures + 1,
       retry_after = messor.clock() + $3::interval, updated_at = messor.clock()
 WHERE id = $1 AND status = 'PENDING_CRAWL'
"""

# Candidates whose page reached a final state. A task that waits for its turn, a retry or extraction
# is skipped; requesting it made it pending, so any other state was reached since.
_UNDER_WAY = """
SELECT c.id, t.outcome, coalesce(t.error_message, t.refusal) AS message, t.last_status, p.url, f.final_url
  FROM messor.candidates c LEFT JOIN messor.pages p ON p.id = c.page_id
  LEFT JOIN messor.crawl_tasks t ON t.page_id = p.id AND t.kind = 'page'
  LEFT JOIN messor.extractions x ON x.page_id = c.page_id
  LEFT JOIN LATERAL (SELECT n.final_url FROM messor.http_fetches n WHERE n.page_id = c.page_id
                      ORDER BY n.fetched_at DESC LIMIT 1) f ON t.outcome = 'redirected'
 WHERE c.status = 'PENDING_CRAWL' AND c.page_id IS NOT NULL
   AND NOT EXISTS (SELECT FROM messor.extraction_due q WHERE q.page_id = c.page_id)
   AND {condition}
 ORDER BY c.submitted_at, c.id LIMIT $1 FOR UPDATE OF c SKIP LOCKED
"""
READ = _UNDER_WAY.format(condition="t.snapshot_id IS NOT NULL AND x.snapshot_id IS NOT NULL")
# Unread: the page is gone, has no good content, or nothing could be extracted.
UNREAD = _UNDER_WAY.format(
    condition="""(t.page_id IS NULL OR t.status IN ('completed', 'failed', 'skipped', 'cancelled'))
   AND (t.snapshot_id IS NULL OR x.snapshot_id IS NULL)"""
)
TARGET = """
SELECT p.id, p.url, t.outcome, f.final_url
  FROM messor.hosts h JOIN messor.pages p ON p.host_id = h.id AND p.url_hash = $2
  LEFT JOIN messor.crawl_tasks t ON t.page_id = p.id
  LEFT JOIN LATERAL (SELECT n.final_url FROM messor.http_fetches n WHERE n.page_id = p.id
                      ORDER BY n.fetched_at DESC LIMIT 1) f ON t.outcome = 'redirected'
 WHERE h.host = $1
"""
EVER_READ = """
SELECT EXISTS (SELECT FROM messor.hosts h JOIN messor.crawl_tasks t ON t.host_id = h.id
                WHERE h.domain_id = $1 AND t.snapshot_id IS NOT NULL)
"""


async def submit_ready(connection: Connection, limit: int = 20, vertical: str | None = None) -> int:
    """Request the crawl of candidates whose domain is approved; returns how many."""
    taken = 0
    ready = await candidates.ready_to_crawl(connection, vertical, limit)
    # A fixed order prevents deadlocks between concurrent callers.
    for candidate in sorted(ready, key=lambda one: (one.domain, one.url)):
        try:
            result = await intake.submit_url(connection, candidate.url, ASKER)
        except (ConflictError, UsageError) as error:
            await _fail(connection, candidate, str(error))
            continue
        if result.page_id is not None:  # otherwise the domain is no longer approved
            await connection.execute(ASKED, candidate.id, result.page_id)
            taken += 1
    return taken


async def take_read(connection: Connection, limit: int = 50) -> int:
    """Queue candidates for review whose page was crawled and extracted; returns how many."""
    rows = await connection.fetch(READ, limit)
    for row in rows:
        await candidates.crawled(
            connection, await candidates.get(connection, row["id"]), actor=ACTOR
        )
    return len(rows)


async def note_unread(connection: Connection, limit: int = 50) -> int:
    """Follow redirects, and store why the other candidates could not be read; returns how many."""
    rows = await connection.fetch(UNREAD, limit)
    for row in rows:
        candidate = await candidates.get(connection, row["id"])
        target = await _target(connection, row)
        if target is not None:
            await connection.execute(LEADS_ON, candidate.id, target)
        else:
            await _fail(connection, candidate, _obstacle(row), row["outcome"])
    return len(rows)


async def _target(connection: Connection, row: Any) -> int | None:
    """The page at the end of a redirect chain, if it is known."""
    page: Any = row
    for _ in range(MAX_HOPS):
        if page is None or page["outcome"] != "redirected":
            return page["id"] if page is not None and page is not row else None
        url = parse(page["final_url"] or "", page["url"])
        page = await connection.fetchrow(TARGET, url.authority, url_hash(url)) if url else None
    return None


def _obstacle(row: Any) -> str:
    outcome: str | None = row["outcome"]
    if outcome is None:
        return "The page was removed before it was read."
    if outcome in ("ok", "unchanged"):
        return "The page was crawled, but nothing could be extracted from it."
    status = f" with status {row['last_status']}" if row["last_status"] else ""
    message = f": {row['message']}" if row["message"] else ""
    return f"The page was not read; the outcome is {outcome}{status}{message}."


async def _fail(
    connection: Connection, candidate: Candidate, message: str, outcome: str | None = None
) -> None:
    """Store the reason, and back off as for a domain with that many failures."""
    note = checked(message[:MAX_REASON], "note", MAX_REASON) or "The page was not read."
    await connection.execute(FAILED, candidate.id, note, back_off(candidate.crawl_failures + 1))
    data = {"candidate": str(candidate.id), "url": candidate.url, "reason": note}
    await record(
        connection, [Event("candidate.crawl_failed", ACTOR, candidate.domain_id, data=data)]
    )
    if outcome in TECHNICAL:
        await _fail_domain(connection, candidate, note)


async def _fail_domain(connection: Connection, candidate: Candidate, note: str) -> None:
    """Mark a domain as failed that does not respond and of which nothing was ever read."""
    domain = await domains.lock(connection, candidate.domain)
    if domain.status != "approved" or await connection.fetchval(EVER_READ, domain.id):
        return
    if domain.processing != "processing" and "processing" in PROCESSING[domain.processing]:
        if domain.processing in ("processing_failed", "no_funds_this_year"):
            return  # already resting
        domain = await processing.begin(connection, domain)
    await rest.fail(connection, domain, note)
