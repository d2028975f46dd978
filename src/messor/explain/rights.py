"""Rights: what a site says about the use of a page or of all its pages, with the lines that say it.

Headers and markup count as they came with the newest snapshot, robots.txt as it is in force now.
Nothing is fetched.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from messor.errors import NotFoundError, UsageError
from messor.politeness import hosts
from messor.politeness.robots import RobotsCache
from messor.registry import domains as registry
from messor.rights.page_terms import ROBOTS, stored_statements
from messor.settings import Settings
from messor.store.database import Database
from messor.web.suffixes import registrable_domain
from messor.web.urls import Url, parse, url_hash
from messor.web.usage.statement import Answer, Statement, Use, decide_all

SNAPSHOT = """
SELECT s.id, s.crawled_at, s.signals::text AS signals
  FROM messor.hosts h JOIN messor.pages p ON p.host_id = h.id AND p.url_hash = $2
  JOIN messor.crawl_tasks t ON t.page_id = p.id JOIN messor.page_snapshots s ON s.id = t.snapshot_id
 WHERE h.host = $1
"""
MAX_PAGES = 200_000
# What the newest snapshots of a domain say, each statement with the number of its pages.
OF_DOMAIN = f"""
WITH newest AS (
  SELECT s.signals, p.url FROM messor.hosts h JOIN messor.crawl_tasks t ON t.host_id = h.id
    JOIN messor.page_snapshots s ON s.id = t.snapshot_id JOIN messor.pages p ON p.id = t.page_id
   WHERE h.domain_id = $1 AND t.kind = 'page' LIMIT {MAX_PAGES}
), said AS (
  SELECT x ->> 'use' AS use, x ->> 'answer' AS answer, x ->> 'standard' AS standard,
         x ->> 'place' AS place, x ->> 'text' AS text, n.url
    FROM newest n CROSS JOIN LATERAL jsonb_array_elements(n.signals) x
   WHERE jsonb_typeof(n.signals) = 'array'
)
SELECT use, answer, standard, place, text, count(DISTINCT url)::int AS pages, min(url) AS example
  FROM said GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 6 DESC, 2 LIMIT 500
"""
PAGES = """
SELECT count(*)::int FROM messor.crawl_tasks t JOIN messor.hosts h ON h.id = t.host_id
 WHERE h.domain_id = $1 AND t.kind = 'page' AND t.snapshot_id IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class SaidLine:
    """One statement, as the site makes it."""

    use: Use
    answer: Answer
    standard: str
    place: str
    text: str


@dataclass(frozen=True, slots=True)
class UseRight:
    """What follows for one use; null where the site is silent."""

    use: Use
    answer: Answer | None
    by: SaidLine | None


@dataclass(frozen=True, slots=True)
class PageRights:
    """What a site says about the use of one page."""

    url: str
    snapshot_id: int | None  # null: the page was not fetched yet
    fetched_at: datetime | None
    uses: list[UseRight]
    statements: list[SaidLine]


@dataclass(frozen=True, slots=True)
class DomainStatement:
    """A statement and the pages it came with."""

    use: str
    answer: str
    standard: str
    place: str
    text: str
    pages: int
    example: str


@dataclass(frozen=True, slots=True)
class DomainRights:
    """What a domain's pages say about their use."""

    domain: str
    pages: int
    statements: list[DomainStatement]


async def of_url(database: Database, settings: Settings, text: str) -> PageRights:
    """What is said about one page."""
    url = parse(text if "://" in text else f"https://{text}")
    if url is None or registrable_domain(url.host) is None:
        raise UsageError(f"{text[:200]!r} is not a URL of a registrable domain.")
    row = await database.fetchrow(SNAPSHOT, url.authority, url_hash(url))
    robots = await _robots_statements(database, settings, url)
    if row is None and robots is None:
        raise NotFoundError(f"Nothing of {url.authority} was read yet. Crawl it: messor {url.href}")
    stored = stored_statements(row["signals"]) if row is not None and row["signals"] else []
    # Without a robots.txt in force, the one of the snapshot still tells.
    own = [one for one in stored if robots is None or not one.place.startswith(ROBOTS)]
    said = [*own, *(robots or ())]
    return PageRights(
        url.href,
        row["id"] if row is not None else None,
        row["crawled_at"] if row is not None else None,
        [UseRight(one.use, one.answer, _line(one.by)) for one in decide_all(said)],
        [SaidLine(*one) for one in said],
    )


async def of_domain(database: Database, name: str) -> DomainRights:
    """What is said on the pages of a domain, as they were fetched last."""
    domain = await registry.get(database, name)
    rows = await database.fetch(OF_DOMAIN, domain.id)
    pages = await database.fetchval(PAGES, domain.id)
    return DomainRights(domain.domain, pages, [DomainStatement(**row) for row in rows])


async def _robots_statements(
    database: Database, settings: Settings, url: Url
) -> list[Statement] | None:
    """Those of the robots.txt in force; None if none was read."""
    host = await hosts.find(database, url.authority, settings.default_delay)
    robots_id = host.robots_for(url.scheme) if host is not None else None
    if robots_id is None:
        return None
    cache = RobotsCache(database, settings.agent_token)
    return (await cache.get({robots_id}))[robots_id].file.usage.statements_of(url.href)


def _line(statement: Statement | None) -> SaidLine | None:
    return None if statement is None else SaidLine(*statement)
