"""What the fault tests share: domain terms set by hand, and a database clock that jumps ahead."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from messor.settings import Settings
from messor.store.database import Database
from simweb.answers import SimResponse
from simweb.documents import HTML
from simweb.mischief.flaw import html
from tests.crawling import PATIENCE, crawl, later

# Longer than what a gate takes for a page with little to say.
WORDS = tuple(
    f"Sentence {n} says something sound about the house and its garden." for n in range(9)
)

NOTHING_HELD = "NOT EXISTS (SELECT FROM messor.lanes WHERE worker_id IS NOT NULL)"
NEXT_CLAIM = """
SELECT extract(epoch FROM min(claim_at) - clock_timestamp())::float8 FROM messor.lanes
"""


def paper(
    title: str, *links: str, head: str = "", extra: tuple[tuple[str, str], ...] = ()
) -> SimResponse:
    """A page with prose enough that nobody doubts it, and more in its head if wanted."""
    texts = (*WORDS, f"This is {title}.")
    body = html(title, texts, tuple((link, link) for link in links), head)
    return SimResponse(200, (("Content-Type", HTML), *extra), body.encode())


def raw(text: str | bytes, content_type: str = HTML, *extra: tuple[str, str]) -> SimResponse:
    body = text.encode() if isinstance(text, str) else text
    return SimResponse(200, (("Content-Type", content_type), *extra), body)


async def set_terms(database: Database, **terms: str) -> None:
    """Change the terms of every domain."""
    for name, value in terms.items():
        await database.fetch(f"UPDATE messor.domains SET {name} = $1", value)


async def count(database: Database, table: str, where: str = "true") -> int:
    found: int = await database.fetchval(f"SELECT count(*) FROM messor.{table} WHERE {where}")
    return found


async def holds(database: Database, table: str, where: str, patience: float = PATIENCE) -> None:
    """Wait until some row is so."""
    async with asyncio.timeout(patience):
        while not await count(database, table, where):  # noqa: ASYNC110 - it happens elsewhere
            await asyncio.sleep(0.01)


async def refused(database: Database) -> Mapping[str, int]:
    rows = await database.fetch(
        "SELECT rule, sum(links)::int AS links FROM messor.refused_links GROUP BY 1"
    )
    return {row["rule"]: row["links"] for row in rows}


async def task_of(database: Database, url: str) -> dict[str, Any]:
    row = await database.fetchrow(
        """SELECT t.*, p.hops, p.depth, p.found_by, p.sitemap_lastmod FROM messor.crawl_tasks t
             JOIN messor.pages p ON p.id = t.page_id WHERE p.url = $1""",
        url,
    )
    assert row is not None, f"{url} is not known"
    return dict(row)


async def crawl_later(dsn: str, settings: Settings, by: timedelta) -> None:
    """Do all that is due after a while."""
    async with Database(later(dsn, by)) as database:
        await crawl(settings, database)


async def play(dsn: str, settings: Settings, seconds: float) -> list[float]:
    """Crawl through the next while, jumping from one due moment to the next; answers those."""
    moments = [0.0]
    await crawl_later(dsn, settings, timedelta())
    while True:
        async with Database(dsn) as database:
            wait: float | None = await database.fetchval(NEXT_CLAIM)
        if wait is None or wait > seconds or len(moments) > 50:
            return moments
        moments.append(max(wait, 0.0))
        await crawl_later(dsn, settings, timedelta(seconds=int(max(wait, moments[-1])) + 1))
