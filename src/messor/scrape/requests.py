"""Requests for pages: tasks made due at the highest priority in their lanes, and what became of them.

Nothing here fetches: workers do, as politely as any crawl. A lane is always locked before its tasks,
as in a flush.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from messor.fetch.outcome import GOOD, Outcome
from messor.frontier.tasks import ASKED_PRIORITY, DEFAULT_PRIORITY
from messor.governance import admission
from messor.ingest import page_requests
from messor.politeness import lanes
from messor.registry.domains import Domain
from messor.scrape.refusals import (
    DomainClosedError,
    PageBlockedError,
    PageFailedError,
    PageMissingError,
    PageRefusedError,
    ScrapeRefusedError,
)
from messor.store.database import Connection, Database
from messor.web.urls import Url, parse, url_hash

KNOWN = """
SELECT p.id FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id
 WHERE h.host = $1 AND p.url_hash = $2
"""
HOSTS = "SELECT DISTINCT host_id FROM messor.crawl_tasks WHERE page_id = ANY ($1::bigint[])"

# Requested by name, so it is fetched however deep it is.
REACH = """
UPDATE messor.pages p SET found_by = 'manual'
 WHERE p.id = ANY ($1::bigint[]) AND p.found_by NOT IN ('manual', 'robots', 'seed')
"""
REQUEST = """
UPDATE messor.crawl_tasks t
   SET due_at = least(t.due_at, messor.clock()), priority = least(t.priority, $2),
       status = 'pending', retry_count = 0
 WHERE t.page_id = ANY ($1::bigint[]) AND t.status NOT IN ('paused', 'cancelled')
"""
WAKE = """
UPDATE messor.lanes l
   SET due_at = least(l.due_at, messor.clock()),
       claim_at = CASE WHEN l.worker_id IS NULL THEN greatest(l.ready_at, messor.clock())
                       ELSE l.claim_at END
 WHERE l.host_id = ANY ($1::bigint[])
"""
# Nobody waits for them any more.
SETTLE = """
UPDATE messor.crawl_tasks t SET priority = $2
 WHERE t.page_id = ANY ($1::bigint[]) AND t.priority = $3
   AND NOT EXISTS (SELECT FROM messor.scrape_job_pages o JOIN messor.scrape_jobs j ON j.id = o.job_id
                    WHERE o.page_id = t.page_id AND o.done_at IS NULL AND j.ended_at IS NULL)
"""
WITHDRAW = """
UPDATE messor.crawl_tasks t SET due_at = NULL, priority = $2
  FROM messor.hosts h JOIN messor.domains d ON d.id = h.domain_id
 WHERE t.page_id = ANY ($1::bigint[]) AND h.id = t.host_id AND d.harvest = 'asked'
   AND t.due_at <= messor.clock()
"""

# `since`: when the page was asked for. What is due still waits for a worker.
STATES = """
SELECT w.page_id, p.url, t.outcome, t.snapshot_id, t.last_status AS status,
       coalesce(t.error_message, t.refusal) AS message,
       t.refusal IS NOT NULL AS is_refused,
       coalesce(t.last_fetched_at >= w.since, false) AS is_fetched,
       coalesce(t.due_at <= c.t, false) AND t.status NOT IN ('paused', 'cancelled') AS is_pending,
       t.status IN ('paused', 'cancelled') AS is_held,
       NOT (d.status = 'approved' AND d.active) AS is_closed,
       greatest(extract(epoch FROM coalesce(h.cooldown_until, l.ready_at) - c.t), 0)::float8 AS wait,
       CASE WHEN t.outcome <> 'redirected' THEN NULL
            WHEN h.https_error IS NOT NULL AND p.url LIKE 'https:%' THEN 'http' || substr(p.url, 6)
            ELSE (SELECT f.final_url FROM messor.http_fetches f WHERE f.page_id = t.page_id
                   ORDER BY f.fetched_at DESC LIMIT 1) END AS location
  FROM unnest($1::bigint[], $2::timestamptz[]) AS w (page_id, since)
  JOIN messor.crawl_tasks t ON t.page_id = w.page_id JOIN messor.pages p ON p.id = t.page_id
  JOIN messor.hosts h ON h.id = t.host_id JOIN messor.lanes l ON l.host_id = t.host_id
  JOIN messor.domains d ON d.id = h.domain_id
 CROSS JOIN (SELECT messor.clock() AS t) c
"""


@dataclass(frozen=True, slots=True)
class AskedState:
    """What became of a requested page."""

    page_id: int
    url: str
    outcome: str | None
    snapshot_id: int | None
    status: int | None
    message: str | None
    is_refused: bool  # by a rule, without a request
    is_fetched: bool  # since it was asked for
    is_pending: bool  # a worker has yet to do it
    is_held: bool
    is_closed: bool  # its domain
    wait: float  # seconds until its lane is free
    location: str | None  # where it redirects

    @property
    def is_good(self) -> bool:
        return self.is_fetched and self.outcome in GOOD and self.snapshot_id is not None

    @property
    def target(self) -> Url | None:
        """Where it redirects, if it does."""
        if not self.is_fetched or self.location is None:
            return None
        return parse(self.location, self.url)

    @property
    def is_decided(self) -> bool:
        """Whether waiting longer changes nothing."""
        if self.is_held or self.is_closed:
            return True
        return self.is_fetched or (self.is_refused and not self.is_pending)

    def refusal(self) -> ScrapeRefusedError:
        """Why there is no content."""
        message = (self.message or f"the outcome is {self.outcome or 'unknown'}").rstrip(".")
        if self.is_closed:
            return DomainClosedError(f"The domain of {self.url} is not crawled now.")
        if self.is_held:
            return PageRefusedError(f"{self.url} is paused or stopped: messor tasks resume --url …")
        if self.is_refused or self.outcome in (Outcome.ROBOTS, Outcome.REFUSED_ADDRESS):
            return PageRefusedError(
                f"{self.url} may not be fetched: {message}. See: messor why {self.url}"
            )
        if self.outcome == Outcome.NOT_FOUND:
            return PageMissingError(f"{self.url} does not exist: the site answered {self.status}.")
        if self.outcome == Outcome.BLOCKED:
            return PageBlockedError(f"{self.url} was blocked by the site: {message}.")
        return PageFailedError(f"{self.url} was not read: {message}.")


async def add(connection: Connection, domain: Domain, url: Url) -> int:
    """A page of an approved domain, within its budget, on the frontier but not due."""
    known = await connection.fetchval(KNOWN, url.authority, url_hash(url))
    if known is None and domain.pages_known >= domain.page_budget:
        raise DomainClosedError(
            f"{domain.domain} has reached its budget of {domain.page_budget} pages. "
            f"Raise it: messor domains configure {domain.domain} --page-budget …"
        )
    return await page_requests.add(connection, domain, url)


async def make_due(connection: Connection, urls: Sequence[Url], page_ids: Sequence[int]) -> None:
    """Make pages due now, before what nobody waits for."""
    host_ids = [row["host_id"] for row in await connection.fetch(HOSTS, list(page_ids))]
    await lanes.lock(connection, host_ids)
    for url in {each.authority: each for each in urls}.values():
        await admission.ask_robots_again(connection, await lanes.answering(connection, url))
    await connection.execute(REACH, list(page_ids))
    await connection.execute(REQUEST, list(page_ids), ASKED_PRIORITY)
    await connection.execute(WAKE, host_ids)


async def settle(connection: Connection, page_ids: Sequence[int]) -> None:
    """Nobody waits for these pages any more: they have the usual priority again."""
    await _lock(connection, page_ids)
    await connection.execute(SETTLE, list(page_ids), DEFAULT_PRIORITY, ASKED_PRIORITY)


async def withdraw(connection: Connection, page_ids: Sequence[int]) -> None:
    """These pages are no longer wanted; where pages are crawled on request only, none stays due."""
    await _lock(connection, page_ids)
    await connection.execute(WITHDRAW, list(page_ids), DEFAULT_PRIORITY)


async def _lock(connection: Connection, page_ids: Sequence[int]) -> None:
    host_ids = [row["host_id"] for row in await connection.fetch(HOSTS, list(page_ids))]
    await lanes.lock(connection, host_ids)


async def states(
    source: Connection | Database, wanted: Sequence[tuple[int, datetime]]
) -> dict[int, AskedState]:
    """States of pages, each with the time since when it was asked for."""
    rows = await source.fetch(STATES, [one for one, _ in wanted], [since for _, since in wanted])
    return {row["page_id"]: AskedState(*row) for row in rows}
