"""Crawl runs: starting or resuming one, and expanding it from pages that are still fresh.

A run has its own limits. Without limits it fetches what its domain's terms make due, its start
URL first; with limits it fetches the pages it discovers, counted from the start URL. Any worker
may fetch them.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from messor.archive.snapshot_content import read_body
from messor.archive.storage import ArchiveSource
from messor.core import clock
from messor.errors import NotFoundError, UnavailableError
from messor.frontier import pages, runs, tasks
from messor.frontier.runs import CrawlRun, Join, RunLimits
from messor.frontier.traps import trap_of
from messor.governance import admission
from messor.ledger.events import Event, record
from messor.politeness import lanes
from messor.registry.domains import Domain
from messor.store.database import Connection, Database
from messor.web.document_formats import format_of
from messor.web.encodings import decode
from messor.web.html import TooComplexError, read_page
from messor.web.suffixes import registrable_domain
from messor.web.urls import Link, Url, host_of, url_hash


async def begin(
    connection: Connection, domain: Domain, url: Url, limits: RunLimits, *, actor: str
) -> tuple[CrawlRun, bool]:
    """Start a run at a URL, or resume an unfinished one with the same arguments.

    Returns the run and whether it was resumed.
    """
    requested = [url.href]
    url = await lanes.answering(connection, url)
    bounded = domain.harvest == "asked" or limits.depth is not None or limits.pages is not None
    if bounded and limits.depth is None:
        limits = replace(limits, depth=domain.max_crawl_depth)
    await lanes.lock_domains(connection, [domain.id])  # lock order of a flush: lanes, runs, tasks
    await admission.ask_robots_again(connection, url)
    resumed = await runs.resume(connection, domain.id, [*requested, url.href], limits)
    if resumed is not None:
        return resumed, True
    page_id = await admission.plant(connection, domain, url, found_by="manual")
    run = await runs.start(
        connection, domain.id, (page_id, url.href), limits, actor=actor, bounded=bounded
    )
    await runs.join(connection, [Join(run.id, url.authority, url_hash(url), 0)])
    if run.sitemaps:
        await runs.join_listed(connection, run)
    if not bounded:
        await _make_due(connection, run)
    data = {"url": url.href, "depth": limits.depth, "pages": limits.pages, "delay": limits.delay}
    fact = Event("crawl.started", actor, domain.id, page_id, {**data, "refetch": limits.refetch})
    await record(connection, [fact])
    return run, False


async def _make_due(connection: Connection, run: CrawlRun) -> None:
    """Make everything due (refetch), or only pages that never succeeded."""
    if run.refetch:
        await tasks.recrawl(connection, [run.domain_id])
    else:
        await runs.retry(connection, run.domain_id)


async def expand(database: Database, archive: ArchiveSource, run: CrawlRun, domain: str) -> int:
    """Expand a run from fresh pages by their archived links; return how many pages there were.

    If the archive has no links, or a link is not on the frontier, the page is fetched again.
    """
    fresh = await database.fetch(runs.FRESH, run.id)
    for row in fresh:
        links = await asyncio.to_thread(_links_of, archive, row, domain)
        async with database.transaction() as connection:
            if links is None or not await _are_known(connection, links):
                await lanes.lock(connection, [row["host_id"]])
                await runs.fetch_again(connection, run, row["page_id"])
                continue
            depth = row["depth"] + 1
            joins = [Join(run.id, link.authority, link.url_hash, depth) for link in links]
            await lanes.lock_hosts(connection, {each.host for each in joins})
            await runs.lock(connection, joins)
            await runs.join(connection, joins)
            await connection.execute(runs.EXPANDED, run.id, row["page_id"])
    return len(fresh)


def _links_of(archive: ArchiveSource, row: Any, domain: str) -> list[Link] | None:
    """The links of an archived page that a run may follow; None if its bytes cannot be read."""
    if row["snapshot_id"] is None:
        return None
    place = row["name"], row["segment_offset"], row["segment_length"]
    try:
        body = read_body(archive, *place)
        if format_of(row["content_type"], body) is not None:
            return None  # documents are parsed in a sandbox alone
        text, _ = decode(body, row["content_type"])
        links = read_page(text, row["url"]).links
    except (NotFoundError, UnavailableError, TooComplexError):
        return None
    year = clock.this_year()
    return [
        link
        for link in links
        if not link.nofollow
        and registrable_domain(host_of(link.authority)) == domain
        and trap_of(link.href, year) is None
    ]


async def _are_known(connection: Connection, links: list[Link]) -> bool:
    known = await connection.fetch(
        pages.KNOWN, [link.authority for link in links], [link.url_hash for link in links]
    )
    found = {(row["host"], row["url_hash"]) for row in known}
    return all((link.authority, link.url_hash) in found for link in links)
