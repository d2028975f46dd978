"""Running workers from a command: signals, a live line of progress, and a summary."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

import click

from messor.core.logs import log_ids
from messor.core.terminal import say
from messor.crawl import crawl_runs, progress
from messor.crawl.session import EVERYTHING
from messor.crawl.worker import Worker
from messor.errors import InterruptedRunError, UnavailableError
from messor.frontier import runs
from messor.frontier.runs import CrawlRun
from messor.ops.clock_watch import ClockWatch
from messor.ops.disk_watch import GOES_ON, paused
from messor.politeness import traffic
from messor.politeness.lanes import WorkScope
from messor.runtime.components import watching_clock
from messor.runtime.signals import Interruptible, stopping_on_signals
from messor.settings import Settings
from messor.store.database import LOST_CONNECTION, TRY_AGAIN
from messor.store.session import Session
from messor.store.space import Space

SEEN_SECONDS = 5.0  # how often a run is marked as alive
SETTLED_SECONDS = 0.6  # idle for this long means done: longer than a flush and a claim


Look = Callable[[], Awaitable[bool]]  # whether nothing is to be done soon


async def require_able(settings: Settings, session: Session) -> Space:
    """Refuse what could fetch nothing, before it begins: traffic is halted, or a disk is low."""
    await traffic.require_running(session.database)
    space = Space.of(settings, session.database)
    if (lack := space.said) is not None:
        raise UnavailableError(f"Nothing is fetched: {lack}.")
    return space


async def work_until_stopped(settings: Settings, session: Session) -> None:
    """Run a worker in this process until a signal ends it."""
    worker = Worker(settings, session.database, repair=session.repair)
    async with stopping_on_signals(worker), watching_clock(settings, session):
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

    async def look() -> bool:
        return (await progress.standing(session.database, domain_ids, patience)).idle

    if await _work(settings, session, look):
        raise InterruptedRunError("Interrupted: what was fetched is kept, the rest stays due.")
    return await progress.outcomes(session.database, domain_ids)


async def carry_out(settings: Settings, session: Session, run: CrawlRun, domain: str) -> bool:
    """Work for one run until nothing of it is due soon; whether a signal came before that."""
    database, archive = session.database, settings.data_dir / "archive"
    seen_at = 0.0

    async def look() -> bool:
        nonlocal seen_at
        if time.monotonic() - seen_at > SEEN_SECONDS:
            seen_at = time.monotonic()
            await runs.see(database, run.id)
        if not run.bounded:
            standing = await progress.standing(database, [run.domain_id], progress.PATIENCE_SECONDS)
            return standing.idle
        if await crawl_runs.expand(database, archive, run, domain):
            return False
        return (await runs.standing(database, run.id, progress.PATIENCE_SECONDS)).waiting == 0

    errand = WorkScope(run.domain_id, run.id if run.bounded else None)
    with log_ids(run=run.id):
        return await _work(settings, session, look, errand)


async def _work(
    settings: Settings, session: Session, look: Look, errand: WorkScope = EVERYTHING
) -> bool:
    """Run a worker until a look finds nothing to do, for a while; whether a signal came first."""
    space = await require_able(settings, session)
    worker = Worker(settings, session.database, repair=session.repair, errand=errand, space=space)
    interruptible = Interruptible(worker)
    async with stopping_on_signals(interruptible), watching_clock(settings, session) as clock:
        running = asyncio.create_task(worker.run())
        watching = asyncio.create_task(_watch(worker, session, look, _Room(space), clock))
        await asyncio.wait([running, watching], return_when=asyncio.FIRST_COMPLETED)
        worker.stop()
        await running
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching  # raises when traffic was halted meanwhile
    return interruptible.was_interrupted


async def _watch(
    worker: Worker, session: Session, look: Look, room: _Room, clock: ClockWatch
) -> None:
    """Return when the crawl has been idle for a while."""
    started = time.monotonic()
    idle_since: float | None = None
    live = sys.stderr.isatty()
    while True:
        now = time.monotonic()
        try:
            is_settled = idle_since is not None and now - idle_since >= SETTLED_SECONDS
            if is_settled:
                await clock.look()  # what waits for long may do so by a step of it
            idle = await look()
            await traffic.require_running(session.database)
        except LOST_CONNECTION + TRY_AGAIN:  # the worker brings it back; or a flush was in the way
            await asyncio.sleep(0.5)
            continue
        room.tell()
        if live:
            _progress_line(worker, now - started)
        if idle and is_settled:
            break
        idle_since = (idle_since or now) if idle else None
        await asyncio.sleep(0.2)
    if live:
        click.echo(err=True)


class _Room:
    """Tells once when a low disk pauses the worker, and once when it goes on."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._was_low = False

    def tell(self) -> None:
        lack = self._space.said
        if lack is not None and not self._was_low:
            say(paused(lack))
        elif lack is None and self._was_low:
            say(GOES_ON)
        self._was_low = lack is not None


def _progress_line(worker: Worker, seconds: float) -> None:
    held = worker.shift.visits if worker.shift else 0
    pages = sum(worker.outcomes.values())
    parts = ", ".join(f"{count} {name}" for name, count in worker.outcomes.most_common(5))
    line = f"\r\x1b[K{pages} pages in {seconds:.0f} s, {held} hosts at work: {parts}"
    click.echo(line[:160], nl=False, err=True)
