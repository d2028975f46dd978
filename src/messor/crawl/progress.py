"""Progress of a crawl, read from the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from messor.fetch.outcome import Outcome
from messor.store.database import Database
from messor.web.urls import Url, url_hash

# A lane in a long cool-down, or a retry that is not due yet, does not keep a crawl waiting.
PATIENCE_SECONDS = 30.0

STANDING = """
SELECT count(*) FILTER (WHERE l.worker_id IS NOT NULL) AS held,
       count(*) FILTER (WHERE l.worker_id IS NULL
                          AND l.due_at <= messor.clock() + interval '1 second'
                          AND l.claim_at <= messor.clock() + make_interval(secs => $2))
         AS waiting
  FROM messor.lanes l JOIN messor.domains d ON d.id = l.domain_id
 WHERE ($1::uuid[] IS NULL OR l.domain_id = ANY ($1)) AND d.status = 'approved' AND d.active
"""

OUTCOMES = """
SELECT coalesce(t.outcome, 'waiting') AS outcome, count(*)::int AS pages
  FROM messor.crawl_tasks t JOIN messor.hosts h ON h.id = t.host_id
 WHERE ($1::uuid[] IS NULL OR h.domain_id = ANY ($1)) AND t.kind = 'page' GROUP BY 1 ORDER BY 2 DESC
"""

# For people: pages denied by a rule are counted apart from pages that were fetched.
SUMMARY = """
SELECT CASE WHEN t.refusal IS NOT NULL THEN 'denied'
            WHEN t.outcome IS NULL AND t.due_at IS NULL THEN 'not due'
            WHEN t.outcome = 'robots' THEN 'not kept' ELSE '' END AS meaning,
       coalesce(t.outcome, 'waiting') AS outcome, count(*)::int AS pages
  FROM messor.crawl_tasks t JOIN messor.hosts h ON h.id = t.host_id
 WHERE ($1::uuid[] IS NULL OR h.domain_id = ANY ($1)) AND t.kind = 'page'
 GROUP BY 1, 2 ORDER BY 3 DESC, 2
"""

# The groups that outcomes are shown in, in display order; some are not outcomes of a fetch.
_GROUPS = (
    "harvested", "unchanged", "denied", "not kept", "blocked", "redirected", "gone", "no content",
    "failed", "not due", "waiting",
)  # fmt: skip
MEANINGS: dict[str, tuple[str, ...]] = {
    group: tuple(outcome for outcome in Outcome if outcome.label == group) for group in _GROUPS
} | {"waiting": ("waiting",)}
NOT_KEPT = "noindex or rights reserved"

# Why pages of a domain have no content, each reason with one of its pages.
OBSTACLES = """
SELECT coalesce(t.refusal, t.outcome) AS reason, t.refusal IS NOT NULL AS is_denied,
       count(*)::int AS pages, min(p.url) AS example
  FROM messor.crawl_tasks t JOIN messor.hosts h ON h.id = t.host_id
  JOIN messor.pages p ON p.id = t.page_id
 WHERE h.domain_id = $1 AND t.kind = 'page' AND (t.refusal IS NOT NULL OR t.outcome <> ALL ($2))
 GROUP BY 1, 2 ORDER BY 3 DESC, 1 LIMIT 8
"""
_WITH_CONTENT = ("ok", "unchanged", "redirected")

CHANGES = """
SELECT c.state, count(*)::int AS pages FROM messor.page_changes c
  JOIN messor.pages p ON p.id = c.page_id JOIN messor.hosts h ON h.id = p.host_id
 WHERE c.seen_at >= $2 AND ($1::uuid[] IS NULL OR h.domain_id = ANY ($1)) GROUP BY 1 ORDER BY 1
"""


# Why a URL was not fetched, latest reason first: its own fetch, a rule, its host's robots.txt.
OBSTACLE = """
SELECT coalesce(r.reason, t.error_message, t.refusal) AS message, h.host, h.https_error, t.outcome,
       (SELECT x.status_code FROM messor.http_fetches x WHERE x.page_id = p.id
         ORDER BY x.fetched_at DESC LIMIT 1) AS status_code,
       f.error_json ->> 'type' AS robots_error,
       CASE WHEN h.cooldown_until > messor.clock() THEN h.cooldown_until END AS silent_until,
       h.cooldown_reason, messor.closed_until(d.id, d.crawl_hours, d.time_zone, messor.clock()) AS closed_until
  FROM messor.hosts h JOIN messor.pages p ON p.host_id = h.id
  JOIN messor.domains d ON d.id = h.domain_id
  JOIN messor.crawl_tasks t ON t.page_id = p.id
  LEFT JOIN messor.robots_files r ON r.verdict = 'deny_all' AND r.id =
       CASE WHEN p.url LIKE coalesce(h.scheme, 'http') || ':%' OR h.https_error IS NOT NULL
            THEN h.robots_id ELSE h.other_robots_id END
  LEFT JOIN LATERAL (
    SELECT x.error_json FROM messor.pages q JOIN messor.http_fetches x ON x.page_id = q.id
     WHERE q.host_id = h.id AND q.found_by = 'robots'
     ORDER BY x.fetched_at DESC LIMIT 1) f ON r.id IS NOT NULL
 WHERE h.host = $1 AND p.url_hash = $2
"""


OVER_HTTP = """
SELECT h.host, h.https_error FROM messor.hosts h
  JOIN messor.robots_files r ON r.id = h.robots_id AND r.verdict <> 'deny_all'
 WHERE h.domain_id = $1 AND h.https_error IS NOT NULL ORDER BY h.id LIMIT 20
"""


@dataclass(frozen=True, slots=True)
class CrawlBacklog:
    """Lanes being visited, and lanes that soon will be."""

    held: int
    waiting: int

    @property
    def idle(self) -> bool:
        return self.held == 0 and self.waiting == 0


async def standing(
    database: Database,
    domain_ids: Sequence[UUID] | None = None,
    patience: float = PATIENCE_SECONDS,
) -> CrawlBacklog:
    row = await database.fetchrow(STANDING, domain_ids, patience)
    assert row is not None
    return CrawlBacklog(row["held"], row["waiting"])


async def outcomes(database: Database, domain_ids: Sequence[UUID] | None = None) -> dict[str, int]:
    """Number of pages by last outcome."""
    rows = await database.fetch(OUTCOMES, domain_ids)
    return {row["outcome"]: row["pages"] for row in rows}


async def summary(
    database: Database, domain_ids: Sequence[UUID] | None = None
) -> dict[str, dict[str, int]]:
    """Number of pages by plain meaning, broken down by outcome."""
    totals: dict[str, dict[str, int]] = {meaning: {} for meaning in MEANINGS}
    for row in await database.fetch(SUMMARY, domain_ids):
        outcome = row["outcome"]
        meaning = row["meaning"] or next(m for m, names in MEANINGS.items() if outcome in names)
        totals[meaning][NOT_KEPT if meaning == "not kept" else outcome] = row["pages"]
    return {meaning: counts for meaning, counts in totals.items() if counts}


async def changes(
    database: Database, since: datetime, domain_ids: Sequence[UUID] | None = None
) -> dict[str, int]:
    """Number of pages new, changed and removed since a time on the database's clock."""
    rows = await database.fetch(CHANGES, domain_ids, since)
    return {row["state"]: row["pages"] for row in rows}


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A reason why pages have no content, and one of them."""

    reason: str  # the rule that denied them, or their outcome
    is_denied: bool
    pages: int
    example: str


async def obstacles(database: Database, domain_id: UUID) -> list[Obstacle]:
    """Why pages of a domain have no content, the most frequent reason first."""
    rows = await database.fetch(OBSTACLES, domain_id, list(_WITH_CONTENT))
    return [Obstacle(**row) for row in rows]


async def over_http(database: Database, domain_id: UUID) -> list[tuple[str, str]]:
    """Hosts fetched over http because https fails, with the https error."""
    rows = await database.fetch(OVER_HTTP, domain_id)
    return [(row["host"], row["https_error"]) for row in rows]


async def obstacle(database: Database, url: Url) -> str:
    """Why a page was not fetched, in a few words."""
    row = await database.fetchrow(OBSTACLE, url.authority, url_hash(url))
    if row is None:
        return "it has not been fetched yet"
    if row["message"] is None:
        return _explain_outcome(row)
    if row["robots_error"] == "dns":
        return f"the name {row['host']} does not resolve; check the spelling"
    over_https = f"https does not connect ({row['https_error']}); " if row["https_error"] else ""
    return f"{over_https}{row['message']}"


def _explain_outcome(row: Record) -> str:
    """Explain a page without an error or a refusal."""
    if row["silent_until"] is not None:
        until = f"{row['silent_until']:%Y-%m-%d %H:%M:%S} UTC"
        return f"{row['host']} is paused until {until}: {row['cooldown_reason']}"
    if row["outcome"] is None and row["closed_until"] is not None:
        until = f"{row['closed_until']:%Y-%m-%d %H:%M} UTC"
        return f"crawl hours or megabytes of its domain allow it from {until}"
    if row["outcome"] is None:
        return "it has not been fetched yet"
    answered = f"it answered {row['status_code']}, " if row["status_code"] else ""
    return f"{answered}its outcome is {row['outcome']}"
