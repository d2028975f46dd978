"""Sitemap tasks: reads a sitemap and puts the pages it lists on the frontier.

A sitemap may list fifty thousand pages, so they are flushed in portions, each committed before
the next: one file blocks neither the event loop nor the database.
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
from messor.fetch.outcome import WITH_BODY, Fetched, Outcome
from messor.frontier import cadence
from messor.frontier.pages import SITEMAPS, NewPage
from messor.frontier.sitemaps import SitemapReading
from messor.frontier.tasks import SITEMAP_PRIORITY, Task
from messor.ledger.decisions import Decision
from messor.politeness.lanes import Lane
from messor.web import sitemaps
from messor.web.sitemaps import Sitemap
from messor.web.urls import parse, url_hash

MAX_NESTING = 10  # levels below the first; bounds cycles and endless chains
PORTION = 1_000  # pages put on the frontier at a time
SLICE = 100  # URLs processed per turn of the event loop


class SitemapTaskReader:
    """Reads sitemaps for one worker."""

    def __init__(self, flush_queue: FlushQueue, link_filter: LinkFilter) -> None:
        self._flush_queue = flush_queue
        self._link_filter = link_filter

    async def read(self, lane: Lane, task: Task, decision: Decision, fetched: Fetched) -> None:
        """Read a response; unchanged bytes are not parsed again."""
        result = PageResult(lane, task, decision, _schedule(lane, task, fetched), fetched)
        if fetched.outcome in WITH_BODY:
            result.raw_hash = hashes.raw_hash(fetched.body)
            if result.raw_hash == task.raw_hash:
                result.final = fetched.result.unchanged()
                self._flush_queue.read_sitemap(SitemapReading(task.page_id))  # clears an error
            else:
                await self._read_sitemap(result, fetched)
        elif fetched.outcome is Outcome.REDIRECTED:
            self._follow(result, fetched)
        if not result.is_fetched_well:
            error = {"outcome": result.outcome, "status": fetched.status, "message": fetched.error}
            self._flush_queue.read_sitemap(SitemapReading(task.page_id, error=error))
        self._flush_queue.put(result)

    async def _read_sitemap(self, result: PageResult, fetched: Fetched) -> None:
        task = result.task
        found = await asyncio.to_thread(
            sitemaps.read, fetched.body, url=task.url, content_type=fetched.content_type
        )
        fetched.let_go()
        if not found.urls and not found.sitemaps and found.kind not in ("urlset", "index"):
            fetched.result = fetched.result.explained("not a sitemap")
            result.final = fetched.result.empty("not a sitemap")
            result.raw_hash = None
            return
        result.final = fetched.result.accepted()
        await self._add_pages(result, found)
        self._flush_queue.read_sitemap(
            SitemapReading(
                task.page_id, found.kind, len(found.urls), len(found.sitemaps), found.warnings
            )
        )

    async def _add_pages(self, result: PageResult, found: Sitemap) -> None:
        """Put the listed pages of the domain on the frontier, portion by portion."""
        lane, task = result.lane, result.task
        portion: list[NewPage] = []
        for entries in _slices(found.urls):
            pages, refused = self._link_filter.filter_listed(lane, task, entries)
            self._flush_queue.refuse_links(refused)
            portion += pages
            if len(portion) >= PORTION:
                await self._flush_queue.find(portion, lane.listing_runs)
                portion = []
            await asyncio.sleep(0)
        portion += self._nested(lane, task, found)
        if portion:
            await self._flush_queue.find(portion, lane.listing_runs)

    def _nested(self, lane: Lane, task: Task, found: Sitemap) -> list[NewPage]:
        refused: Counter[tuple[int, str]] = Counter()
        pages: list[NewPage] = []
        for text, lastmod in found.sitemaps:
            url = parse(text, task.url)
            if url is None or not self._link_filter.is_within(lane, url.authority):
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
        self._flush_queue.refuse_links(refused)
        return pages

    def _follow(self, result: PageResult, fetched: Fetched) -> None:
        """Follow a redirected sitemap in its target host's lane."""
        target = self._link_filter.follow(result.lane, result.task, fetched.location)
        if target.error:
            fetched.result = fetched.result.explained(target.error)
        for page in target.pages:
            page.kind, page.priority = "sitemap", SITEMAP_PRIORITY
        result.found = target.pages


def _slices(
    entries: Sequence[tuple[str, datetime | None]],
) -> Iterator[Sequence[tuple[str, datetime | None]]]:
    for start in range(0, len(entries), SLICE):
        yield entries[start : start + SLICE]


def _schedule(lane: Lane, task: Task, fetched: Fetched) -> cadence.Schedule:
    if fetched.outcome in WITH_BODY or fetched.outcome is Outcome.UNCHANGED:
        return cadence.after_success(task, lane.policy.frequency)
    if fetched.outcome in (Outcome.NOT_FOUND, Outcome.REDIRECTED):
        return cadence.after_gone()
    return cadence.after_failure(task, lane.policy.frequency, fetched.retry_after or 0.0)
