"""Sitemap tasks: reading a sitemap and putting what it lists on the frontier.

A sitemap may list fifty thousand pages, so they go to the flush in portions, each committed
before the next: neither the loop nor the database is held up by one file.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from messor.archive import hashes
from messor.crawl.flush_queue import FlushQueue
from messor.crawl.links import LinkFilter
from messor.crawl.page_result import PageResult
from messor.fetch.outcome import Fetched, Outcome
from messor.frontier import cadence
from messor.frontier.pages import SITEMAPS, NewPage
from messor.frontier.sitemaps import SitemapReading
from messor.frontier.tasks import SITEMAP_PRIORITY, Task
from messor.ledger.decisions import Decision
from messor.politeness.lanes import Lane
from messor.web import sitemaps
from messor.web.sitemaps import Sitemap
from messor.web.urls import parse, url_hash

MAX_NESTING = 10  # levels below the first; one that names itself or goes on for ever ends there
PORTION = 1_000  # pages put on the frontier at a time
SLICE = 100  # URLs looked at in one turn of the loop

# What an answer must be to hold a sitemap; servers type them as anything.
_READABLE = frozenset({Outcome.OK, Outcome.NOT_HTML})


class SitemapTaskReader:
    """Reads sitemaps for one worker."""

    def __init__(self, inbox: FlushQueue, sieve: LinkFilter) -> None:
        self._inbox = inbox
        self._sieve = sieve

    async def read(self, lane: Lane, task: Task, decision: Decision, fetched: Fetched) -> None:
        """Take in an answer; unchanged bytes are not read again."""
        harvest = PageResult(lane, task, decision, _schedule(lane, task, fetched), fetched.outcome)
        harvest.fetched = fetched
        if fetched.outcome in _READABLE:
            harvest.raw_hash = hashes.raw_hash(fetched.body)
            if harvest.raw_hash == task.raw_hash:
                harvest.outcome = Outcome.UNCHANGED
                self._inbox.read_sitemap(SitemapReading(task.page_id))  # an error is over
            else:
                await self._take_in(harvest, fetched)
        elif fetched.outcome is Outcome.REDIRECTED:
            self._follow(harvest, fetched)
        if harvest.outcome not in (Outcome.OK, Outcome.UNCHANGED):
            error = {"outcome": harvest.outcome, "status": fetched.status, "message": fetched.error}
            self._inbox.read_sitemap(SitemapReading(task.page_id, error=error))
        self._inbox.put(harvest)

    async def _take_in(self, harvest: PageResult, fetched: Fetched) -> None:
        task = harvest.task
        found = await asyncio.to_thread(
            sitemaps.read, fetched.body, url=task.url, content_type=fetched.content_type
        )
        fetched.let_go()
        if not found.urls and not found.sitemaps and found.kind not in ("urlset", "index"):
            harvest.outcome, fetched.error = Outcome.EMPTY, "this is not a sitemap"
            harvest.raw_hash = None
            return
        harvest.outcome = Outcome.OK
        await self._enlist(harvest, found)
        self._inbox.read_sitemap(
            SitemapReading(
                task.page_id, found.kind, len(found.urls), len(found.sitemaps), found.warnings
            )
        )

    async def _enlist(self, harvest: PageResult, found: Sitemap) -> None:
        """Everything it lists that lies within the domain, portion by portion."""
        lane, task = harvest.lane, harvest.task
        portion: list[NewPage] = []
        for entries in _slices(found.urls):
            pages, refused = self._sieve.sift_listed(lane, task, entries)
            self._inbox.refuse_links(refused)
            portion += pages
            if len(portion) >= PORTION:
                await self._inbox.find(portion, lane.listing_runs)
                portion = []
            await asyncio.sleep(0)
        portion += self._nested(lane, task, found)
        if portion:
            await self._inbox.find(portion, lane.listing_runs)

    def _nested(self, lane: Lane, task: Task, found: Sitemap) -> list[NewPage]:
        refused: Counter[tuple[int, str]] = Counter()
        pages: list[NewPage] = []
        for text, lastmod in found.sitemaps:
            url = parse(text, task.url)
            if url is None or not self._sieve.is_within(lane, url.authority):
                refused[lane.host_id, "scope"] += 1
            elif task.depth >= MAX_NESTING:
                refused[lane.host_id, "sitemap_nesting"] += 1
            else:
                page = NewPage(
                    lane.policy.domain_id,
                    url.authority,
                    url_hash(url),
                    url.href,
                    "sitemap",
                    task.page_id,
                    task.depth + 1,
                    0,
                    finder=lane.host_id,
                    kind="sitemap",
                    priority=SITEMAP_PRIORITY,
                    pattern=SITEMAPS,
                    lastmod=lastmod,
                    due=lane.policy.harvest == "site",
                )
                pages.append(page)
        self._inbox.refuse_links(refused)
        return pages

    def _follow(self, harvest: PageResult, fetched: Fetched) -> None:
        """A sitemap that moved: read where it is now, in that host's lane."""
        found, why_not = self._sieve.follow(harvest.lane, harvest.task, fetched.location)
        if why_not:
            fetched.error = why_not
        for page in found:
            page.kind, page.priority = "sitemap", SITEMAP_PRIORITY
        harvest.found = found


def _slices(
    entries: Sequence[tuple[str, datetime | None]],
) -> Iterator[Sequence[tuple[str, datetime | None]]]:
    for start in range(0, len(entries), SLICE):
        yield entries[start : start + SLICE]


def _schedule(lane: Lane, task: Task, fetched: Fetched) -> cadence.Schedule:
    if fetched.outcome in _READABLE or fetched.outcome is Outcome.UNCHANGED:
        return cadence.after_success(task, lane.policy.frequency)
    if fetched.outcome in (Outcome.NOT_FOUND, Outcome.REDIRECTED):
        return cadence.after_gone()
    return cadence.after_failure(task, lane.policy.frequency, fetched.retry_after or 0.0)
