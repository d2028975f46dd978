"""`messor worker` and `messor up`: processes that do what is due until they are stopped."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import click

from messor.cli.output import run, say
from messor.cli.running import work_until_stopped
from messor.schedule import clockwork
from messor.settings import Settings
from messor.store.session import open_session


@click.command()
def worker() -> None:
    """Claim lanes and harvest what is due, until SIGTERM or Ctrl-C.

    \b
    Example:
      messor worker
    """
    run(_work())


async def _work() -> None:
    settings = Settings()
    async with open_session(settings) as session:
        say(f"Worker {os.getpid()} is at work. Ctrl-C or SIGTERM stops it cleanly.")
        await work_until_stopped(settings, session)


@click.command()
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64))
def up(workers: int) -> None:
    """Run PostgreSQL, workers and the schedule until Ctrl-C.

    \b
    Example:
      messor up --workers 2
    """
    run(_up(workers))


async def _up(workers: int) -> None:
    """Keep the database and the workers running; a worker that dies is started again."""
    settings = Settings()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with open_session(settings, pool_size=2) as session:
        say(f"PostgreSQL is up; {workers} workers. Ctrl-C stops everything cleanly.")
        async with asyncio.TaskGroup() as group:
            schedule = clockwork.run(session.database, settings, stop, repair=session.repair)
            group.create_task(schedule)
            for _ in range(workers):
                group.create_task(_keep_running(stop))


async def _keep_running(stop: asyncio.Event) -> None:
    while not stop.is_set():
        # Its own session: Ctrl-C in the terminal reaches this process alone, which then asks
        # the workers to stop.
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "messor", "worker", start_new_session=True
        )
        ended = asyncio.create_task(process.wait())
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait([ended, stopped], return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            await ended
        elif not stop.is_set():
            say(f"Worker {process.pid} ended with code {process.returncode}; starting another.")
            await asyncio.sleep(1)
