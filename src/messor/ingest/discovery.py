"""Discovery: reads robots.txt, sitemaps and the homepage before other pages are chosen.

Each is requested unless it was read within a day. Endless sitemaps do not hold up a run: once there
are enough pages, or enough time has passed, the plan uses what is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from messor.core import clock
from messor.ingest.run import IngestionRun, retry_until_available
from messor.store.database import Database

LONGEST_SECONDS = 60.0
SITEMAP_SECONDS = 20.0  # waiting time for sitemaps once the homepage has arrived
ENOUGH_PAGES = 5_000
MAX_SITEMAPS = 10

# Sitemaps of images, authors and the like say least about a business.
SITEMAPS = """
SELECT s.page_id, coalesce(t.due_at <= messor.clock(), false) AS pending,
       coalesce(s.read_at > messor.clock() - interval '24 hours', false) AS fresh
  FROM messor.sitemaps s JOIN messor.crawl_tasks t ON t.page_id = s.page_id
  JOIN messor.pages p ON p.id = s.page_id JOIN messor.hosts h ON h.id = s.host_id
 WHERE h.domain_id = $1 AND t.status NOT IN ('paused', 'cancelled')
 ORDER BY p.url ~* '(image|video|news|author|tag|archive)', s.depth, s.page_id LIMIT 500
"""

KNOWN = "SELECT pages_known FROM messor.domains WHERE id = $1"

# Yield by source: pages of sitemaps, rules or sitemaps of robots.txt, links of homepages.
SOURCES = """
SELECT EXISTS (SELECT FROM messor.sitemaps s JOIN messor.hosts h ON h.id = s.host_id
                WHERE h.domain_id = $1 AND s.urls > 0) AS sitemap,
       EXISTS (SELECT FROM messor.hosts h JOIN messor.robots_files r ON r.id = h.robots_id
                WHERE h.domain_id = $1 AND r.verdict = 'rules') AS robots,
       EXISTS (SELECT FROM messor.pages p WHERE p.host_id = ANY ($2::bigint[])
                  AND p.found_by = 'link' AND p.found_on = ANY ($3::bigint[])) AS homepage
"""


@dataclass(slots=True)
class Sitemaps:
    """The state of a domain's sitemaps."""

    unread: list[int]
    pending: set[int]


async def discover(run: IngestionRun, homepages: list[tuple[int, str]]) -> None:
    """Read the sources of links; `homepages` are the pages to begin with, each with its reason."""
    run.wait_at_most(LONGEST_SECONDS)
    await run.request_pages([page for page in await run.plan(homepages) if not page.done])
    arrived: float | None = None
    while run.remaining > 0:
        await run.poll()
        led = await run.follow()
        await run.request_pages([page for page in led if not page.done])
        sitemaps = await retry_until_available(lambda: _sitemaps(run.database, run.domain.id))
        new = [each for each in sitemaps.unread if each not in run.sitemaps]
        new = new[: MAX_SITEMAPS - len(run.sitemaps)]
        await run.request_pages([], new)
        if not run.waiting and not led:
            arrived = arrived or clock.now()
            settled = not new and not run.sitemaps & sitemaps.pending
            if settled or run.silent_hosts or await _has_enough(run, arrived):
                return
        await run.pause()


async def _sitemaps(database: Database, domain_id: UUID) -> Sitemaps:
    rows = await database.fetch(SITEMAPS, domain_id)
    return Sitemaps(
        [row["page_id"] for row in rows if not row["fresh"]],
        {row["page_id"] for row in rows if row["pending"]},
    )


async def _has_enough(run: IngestionRun, arrived: float) -> bool:
    """Whether to plan although sitemaps are still being read."""
    if clock.now() - arrived > SITEMAP_SECONDS:
        return True
    known: int = await retry_until_available(lambda: run.database.fetchval(KNOWN, run.domain.id))
    return known >= ENOUGH_PAGES


async def sources(run: IngestionRun) -> list[str]:
    """Sources that contributed, by priority."""
    if not run.checked.terms.discovers:
        return []
    homes = [page for page in run.pages.values() if page.reason == "homepage" or page.urgent]
    hosts = {page.state.host_id for page in run.pages.values() if page.state}
    row = await retry_until_available(
        lambda: run.database.fetchrow(
            SOURCES, run.domain.id, list(hosts), [page.page_id for page in homes]
        )
    )
    assert row is not None
    return [name for name in ("sitemap", "robots", "homepage") if row[name]]
