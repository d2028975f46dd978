"""Crawling in a test: domains admitted by one call, a worker run until nothing is due."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from messor.crawl import progress
from messor.crawl.worker import Worker
from messor.governance import admission
from messor.registry import domains
from messor.registry.domains import Domain, Submission
from messor.settings import Settings
from messor.store.database import Database

TESTER = "tester"
PATIENCE = 60.0  # it only bounds a failure: a busy machine may take long


async def submit(database: Database, url: str) -> Domain:
    async with database.transaction() as connection:
        submission = Submission.understand(url)
        domain, _ = await domains.submit(connection, submission, actor=TESTER, max_crawl_depth=50)
        return domain


async def admit(database: Database, url: str, *, delay: float | None = 0.0, **terms: Any) -> Domain:
    """Submit, configure and approve a domain."""
    domain = await submit(database, url)
    async with database.transaction() as connection:
        await domains.configure(connection, domain, actor=TESTER, delay=delay, **terms)
        return await admission.approve(connection, domain, actor=TESTER)


async def suspend(database: Database, domain: Domain) -> None:
    async with database.transaction() as connection:
        await domains.move(connection, domain, "suspended", actor=TESTER)


@asynccontextmanager
async def at_work(settings: Settings, database: Database) -> AsyncIterator[Worker]:
    """A worker at work while the context is open, stopped cleanly at its end."""
    worker = Worker(settings, database)
    running = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        await asyncio.wait_for(running, PATIENCE)


async def idle(database: Database, patience: float = PATIENCE) -> None:
    """Wait until nothing is held and nothing is due soon."""
    async with asyncio.timeout(patience):
        while True:
            await asyncio.sleep(0.02)
            if (await progress.standing(database)).idle:
                return


async def until(condition: Callable[[], object], patience: float = PATIENCE) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(patience):
        while True:
            if condition():
                return
            await asyncio.sleep(0.01)


async def eventually(question: Callable[[], Awaitable[object]], patience: float = PATIENCE) -> None:
    """Wait until a question has a good answer."""
    async with asyncio.timeout(patience):
        while True:
            if await question():
                return
            await asyncio.sleep(0.05)


async def crawl(settings: Settings, database: Database, patience: float = PATIENCE) -> None:
    """Do all that is due."""
    async with at_work(settings, database):
        await idle(database, patience)


def later(dsn: str, by: timedelta) -> str:
    """The same database with its clock moved, for the sessions opened with this DSN."""
    return f"{dsn}?messor.clock_offset={int(by.total_seconds())}%20seconds"


async def outcomes(database: Database) -> dict[str, str | None]:
    """What came of each page's last turn, by URL; sitemaps that were only guessed at left out."""
    rows = await database.fetch(
        """SELECT p.url, t.outcome FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id
            WHERE t.kind <> 'sitemap' OR t.outcome <> 'not_found'"""
    )
    return {row["url"]: row["outcome"] for row in rows}
