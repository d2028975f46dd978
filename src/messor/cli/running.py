"""Running workers from a command: signals, a live line of progress, and a summary."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import AsyncIterator, Sequence
from typing import Protocol
from uuid import UUID

import click

from messor.courtesy import traffic
from messor.engine import progress
from messor.engine.worker import Worker
from messor.settings import Settings
from messor.store.database import LOST_CONNECTION
from messor.store.session import Session

SETTLED_SECONDS = 0.6  # idle for this long means done: longer than a flush and a claim


class Stoppable(Protocol):
    """A worker, or whatever else can be told to stop."""

    def stop(self) -> None: ...


@contextlib.asynccontextmanager
async def stopping_on_signals(running: Stoppable) -> AsyncIterator[None]:
    """SIGINT and SIGTERM let what is under way finish."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, running.stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


async def work_until_stopped(settings: Settings, session: Session) -> None:
    """Run a worker in this process until a signal ends it."""
    worker = Worker(settings, session.database, repair=session.repair)
    async with stopping_on_signals(worker):
        await worker.run()


async def crawl_until_idle(
    settings: Settings,
    session: Session,
    domain_ids: Sequence[UUID] | None = None,
    *,
    patience: float = progress.PATIENCE_SECONDS,
) -> dict[str, int]:
    """Run a worker in this process until nothing is due soon; answers pages by outcome.

    A host that asked for silence is waited for when it is over within `patience` seconds.
    """
    await traffic.require_running(session.database)
    worker = Worker(settings, session.database, repair=session.repair)
    async with stopping_on_signals(worker):
        running = asyncio.create_task(worker.run())
        watching = asyncio.create_task(_watch(worker, session, domain_ids, patience))
        await asyncio.wait([running, watching], return_when=asyncio.FIRST_COMPLETED)
        worker.stop()
        await running
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching  # raises when traffic was halted meanwhile
    return await progress.outcomes(session.database, domain_ids)


async def _watch(
    worker: Worker, session: Session, domain_ids: Sequence[UUID] | None, patience: float
) -> None:
    """Return when the crawl has been idle for a while."""
    started = time.monotonic()
    idle_since: float | None = None
    live = sys.stderr.isatty()
    while True:
        now = time.monotonic()
        try:
            standing = await progress.standing(session.database, domain_ids, patience)
            await traffic.require_running(session.database)
        except LOST_CONNECTION:  # the worker brings it back
            await asyncio.sleep(0.5)
            continue
        if live:
            _progress_line(worker, standing.held, now - started)
        if not standing.idle:
            idle_since = None
        elif idle_since is None:
            idle_since = now
        elif now - idle_since >= SETTLED_SECONDS:
            break
        await asyncio.sleep(0.2)
    if live:
        click.echo(err=True)


def _progress_line(worker: Worker, held: int, seconds: float) -> None:
    pages = sum(worker.outcomes.values())
    parts = ", ".join(f"{count} {name}" for name, count in worker.outcomes.most_common(5))
    line = f"\r\x1b[K{pages} pages in {seconds:.0f} s, {held} hosts at work: {parts}"
    click.echo(line[:160], nl=False, err=True)
