"""Discovery: reads the sources of links before pages are chosen, in a fixed order.

First robots.txt, as permission; then /sitemap.xml, the sitemaps that robots.txt names and those
they list; the homepage last. Each is requested unless it was read within a day. Endless sitemaps do
not hold up a run: once there are enough pages, or enough time has passed, the run goes on with what
is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from messor.core import clock
from messor.frontier.sample import PageOrigin
from messor.ingest import page_requests
from messor.ingest.run import IngestionRun, PageChoice, retry_until_available
from messor.store.database import Connection, Database
from messor.web.urls import parse

LONGEST_SECONDS = 60.0
SITEMAP_SECONDS = 20.0  # waiting time for sitemaps
ENOUGH_PAGES = 5_000
MAX_SITEMAPS = 10
MINIMAL_SITEMAPS = 1  # at high risk
SITEMAP_WAVE = 3  # requested at a time: the homepage waits for no more than these

# Hosts without a robots.txt in force, or whose robots.txt is to be read again.
UNRULED = """
SELECT h.id FROM messor.hosts h
 WHERE h.id = ANY ($1::bigint[])
   AND ((h.robots_id IS NULL AND h.other_robots_id IS NULL)
        OR EXISTS (SELECT FROM messor.crawl_tasks t WHERE t.host_id = h.id AND t.kind = 'robots'
                      AND t.due_at <= messor.clock()))
"""

# /sitemap.xml first. Sitemaps of images, authors and the like say least about a business.
SITEMAPS = r"""
SELECT s.page_id, coalesce(t.due_at <= messor.clock(), false) AS pending,
       coalesce(s.read_at > messor.clock() - interval '24 hours', false) AS fresh
  FROM messor.sitemaps s JOIN messor.crawl_tasks t ON t.page_id = s.page_id
  JOIN messor.pages p ON p.id = s.page_id JOIN messor.hosts h ON h.id = s.host_id
 WHERE h.domain_id = $1 AND t.status NOT IN ('paused', 'cancelled')
   AND NOT coalesce(h.cooldown_until > messor.clock(), false)
 ORDER BY p.url !~ '^https?://[^/]+/sitemap\.xml$',
          p.url ~* '(image|video|news|author|tag|archive)', s.depth, s.page_id LIMIT 500
"""

KNOWN = "SELECT pages_known FROM messor.domains WHERE id = $1"

# When each source was read, if that was within a day: a robots.txt with rules, a sitemap with
# pages, a homepage with content.
SOURCES = """
SELECT 'robots' AS name, min(t.last_fetched_at) AS read_at
  FROM messor.hosts h JOIN messor.robots_files r ON r.id IN (h.robots_id, h.other_robots_id)
  JOIN messor.crawl_tasks t ON t.host_id = h.id AND t.kind = 'robots'
 WHERE h.id = ANY ($2::bigint[]) AND r.verdict = 'rules'
   AND t.last_fetched_at > messor.clock() - interval '24 hours'
UNION ALL
SELECT 'sitemap', min(s.read_at)
  FROM messor.sitemaps s JOIN messor.hosts h ON h.id = s.host_id
 WHERE h.domain_id = $1 AND s.urls > 0 AND s.error_json IS NULL
   AND s.read_at > messor.clock() - interval '24 hours'
UNION ALL
SELECT 'homepage', min(t.last_fetched_at) FROM messor.crawl_tasks t
 WHERE t.page_id = ANY ($3::bigint[]) AND t.outcome IN ('ok', 'unchanged')
   AND t.last_fetched_at > messor.clock() - interval '24 hours'
"""
ORDER = ("robots", "sitemap", "homepage")


@dataclass(slots=True)
class Sitemaps:
    """The state of a domain's sitemaps, in the order in which they are read."""

    unread: list[int]
    pending: set[int]


@dataclass(slots=True)
class _Reading:
    """Progress of one discovery."""

    run: IngestionRun
    guessed: set[int]  # hosts whose /sitemap.xml is known
    sitemaps_until: float | None = None

    async def step(self) -> bool:
        """Request what comes next; returns whether everything was read."""
        run = self.run
        hosts = {page.state.host_id for page in run.pages.values() if page.state is not None}
        hosts -= run.silent_hosts
        if await self._awaits_robots(hosts) or await self._awaits_sitemaps(hosts):
            return False
        homepages = run.queue
        await run.request_pages(homepages)
        return not homepages and not run.waiting

    async def _awaits_robots(self, hosts: set[int]) -> bool:
        """Whether a robots.txt is still to be read; wakes the lane that reads it."""
        run = self.run
        rows = await retry_until_available(lambda: run.database.fetch(UNRULED, list(hosts)))
        unruled = {row["id"] for row in rows}
        if unruled:
            await run.wake(unruled)
        return bool(unruled)

    async def _awaits_sitemaps(self, hosts: set[int]) -> bool:
        """Whether sitemaps are still to be read; requests the next ones."""
        run = self.run
        await self._guess_sitemaps(hosts)
        found = await retry_until_available(lambda: _sitemaps(run.database, run.domain.id))
        most = MINIMAL_SITEMAPS if run.is_minimal else MAX_SITEMAPS
        new = [each for each in found.unread if each not in run.sitemaps]
        new = new[: max(most - len(run.sitemaps), 0)]
        pending = run.sitemaps & found.pending
        if not hosts or not (new or pending) or await self._has_enough():
            return False
        await run.request_pages([], new[: SITEMAP_WAVE - len(pending)])
        return True

    async def _guess_sitemaps(self, hosts: set[int]) -> None:
        """Make /sitemap.xml known where the run begins, even if robots.txt names others."""
        run = self.run
        pages = [page.state for page in run.pages.values() if page.state is not None]
        new = {state.host_id: parse(state.url) for state in pages if state.host_id in hosts}
        origins = {
            host_id: url.origin
            for host_id, url in new.items()
            if url is not None and host_id not in self.guessed
        }

        async def act(connection: Connection) -> None:
            for host_id, origin in origins.items():
                await page_requests.add_sitemap(connection, host_id, f"{origin}/sitemap.xml")

        if origins:
            await run.transact(act)
            self.guessed |= origins.keys()

    async def _has_enough(self) -> bool:
        """Whether to go on although sitemaps are still being read."""
        run, now = self.run, clock.now()
        if self.sitemaps_until is None:
            self.sitemaps_until = now + SITEMAP_SECONDS
        if now > self.sitemaps_until:
            return True
        known: int = await retry_until_available(
            lambda: run.database.fetchval(KNOWN, run.domain.id)
        )
        return known >= ENOUGH_PAGES


async def discover(run: IngestionRun, homepages: list[PageChoice]) -> None:
    """Read the sources of links; `homepages` are the pages to begin with."""
    run.wait_at_most(LONGEST_SECONDS)
    await run.plan(homepages)
    reading = _Reading(run, set())
    while run.remaining > 0:
        await run.poll()
        await run.note_silence()
        await run.follow()
        if await reading.step():
            return
        await run.pause()


async def _sitemaps(database: Database, domain_id: UUID) -> Sitemaps:
    rows = await database.fetch(SITEMAPS, domain_id)
    return Sitemaps(
        [row["page_id"] for row in rows if not row["fresh"]],
        {row["page_id"] for row in rows if row["pending"]},
    )


async def sources(run: IngestionRun) -> list[str]:
    """The sources that were read, by this run or within a day before it, in order of time."""
    if not run.checked.terms.discovers:
        return []
    homes = [
        page for page in run.pages.values() if page.origin is PageOrigin.HOMEPAGE or page.urgent
    ]
    hosts = {page.state.host_id for page in homes if page.state}
    rows = await retry_until_available(
        lambda: run.database.fetch(
            SOURCES, run.domain.id, list(hosts), [page.page_id for page in homes]
        )
    )
    read = {row["name"]: row["read_at"] for row in rows if row["read_at"] is not None}
    return sorted(read, key=lambda name: (read[name], ORDER.index(name)))
