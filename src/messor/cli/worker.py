"""`messor worker` and `messor up`: processes that do what is due until they are stopped."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from functools import partial

import click

from messor.access import links
from messor.cli.output import run
from messor.core.terminal import say
from messor.errors import UsageError
from messor.jobs.broker.options import options_of
from messor.ledger.alarms import AlarmBoard
from messor.ops.webhooks.dispatch import Dispatcher
from messor.runtime.components import WatchedComponents
from messor.runtime.memory import MEGABYTE, resident_bytes
from messor.runtime.process_group import Component, ProcessGroup
from messor.runtime.signals import stopping_on_signals
from messor.runtime.supervisor import Supervisor
from messor.runtime.watchdog import Watchdog
from messor.runtime.worker_process import (
    EXTRACT,
    Duties,
    WorkerProcess,
    extraction,
    job_types,
    needing_broker,
)
from messor.schedule import leader
from messor.settings import Settings
from messor.store.session import Session, open_session

WORKER = (sys.executable, "-m", "messor", "worker", "--supervised")
CONNECTIONS = 10
FAREWELL_SECONDS = 40.0  # more than the workers have

Team = Callable[[], Supervisor]


@click.command()
@click.option("--processes", type=click.IntRange(1, 64),
              help="Run so many processes and start those again that end; without it, one, here.")  # fmt: skip
@click.option("--concurrency", type=click.IntRange(1),
              help="Most visits of a process, or jobs when it makes no visits.")  # fmt: skip
@click.option("--only", metavar="NAMES",
              help="Do only these: visit, extract, types of jobs, with commas.")  # fmt: skip
@click.option("--broker/--no-broker", default=None,
              help="Be told of jobs by the broker, or look for them; by default, as one is set.")  # fmt: skip
@click.option("--supervised", is_flag=True, hidden=True, help="End when standard input does.")
def worker(
    processes: int | None,
    concurrency: int | None,
    only: str | None,
    *,
    broker: bool | None,
    supervised: bool,
) -> None:
    """Harvest what is due, extract records from it and do jobs, until SIGTERM or Ctrl-C.

    With --processes, extraction has one process beside them.

    \b
    Example:
      messor worker
      messor worker --processes 4 --only visit
      messor worker --broker --only audit
    """
    settings = Settings()
    duties = Duties.understand(only, settings, concurrency=concurrency, is_supervised=supervised)
    if broker and not duties.job_types:
        raise UsageError("A broker tells of jobs; visits do without: leave --broker.")
    if broker is None:
        broker = settings.broker_url is not None and bool(duties.job_types)
    if broker:
        options_of(settings)  # before any process starts
    if processes is None:
        _work(WorkerProcess(settings, duties), broker=broker)
    else:
        run(_supervise(processes, _teams(settings, duties, processes, broker=broker)))


def _work(crew: WorkerProcess, *, broker: bool) -> None:
    """Work in this process; one that has outgrown its memory becomes a new one."""
    code = crew.work_with_broker() if broker else run(crew.work())
    if crew.is_outgrown:
        grown = resident_bytes() // MEGABYTE
        say(f"Worker {os.getpid()} has grown to {grown} MB; a new one takes its place.")
        sys.stderr.flush()
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - ourselves
    sys.exit(code or 0)


def _teams(settings: Settings, duties: Duties, processes: int, *, broker: bool) -> list[Team]:
    """So many workers, and one process that extracts what they bring."""
    asked = [] if duties.concurrency is None else ["--concurrency", str(duties.concurrency)]
    teams: list[Team] = []
    if duties.besides_extraction:
        told = ["--only", duties.besides_extraction, "--broker" if broker else "--no-broker"]
        teams.append(partial(_supervisor, settings, processes, [*asked, *told]))
    if duties.extracts:
        teams.append(partial(_supervisor, settings, 1, ["--only", EXTRACT, "--no-broker"]))
    return teams


async def _supervise(processes: int, teams: list[Team]) -> None:
    """Each under a watchdog: the failure of one supervisor does not end the processes of another."""
    say(f"{processes} workers. Ctrl-C or SIGTERM stops all of them cleanly.")
    board = AlarmBoard()
    watched = [Watchdog("a supervisor of workers", team, board) for team in teams]
    company = ProcessGroup(watched, farewell_seconds=FAREWELL_SECONDS)
    async with stopping_on_signals(company):
        await company.run()


def _supervisor(settings: Settings, processes: int, words: list[str]) -> Supervisor:
    command = (*WORKER, *words)
    return Supervisor(command, processes, say=say, ceiling_mb=settings.worker_memory_mb)


@click.command()
@click.option("--workers", default=1, show_default=True, type=click.IntRange(0, 64),
              help="So many workers; 0 keeps the schedule for workers elsewhere.")  # fmt: skip
@click.option("--console/--no-console", default=True, help="Serve the console and the API.")
def up(workers: int, *, console: bool) -> None:
    """Run PostgreSQL, workers, the schedule, the console and the API until Ctrl-C.

    \b
    Example:
      messor up --workers 2
    """
    run(_up(workers, console=console))


async def _up(workers: int, *, console: bool) -> None:
    """Keep everything of one machine running; with a broker, feed it."""
    settings = Settings()
    async with open_session(settings, pool_size=CONNECTIONS) as session:
        watches = WatchedComponents(settings, session)
        watches.add("the schedule", lambda: _schedule(settings, session))
        watches.add("webhooks", lambda: Dispatcher(session.database))
        if settings.broker_url is not None:
            watches.add("the broker's relay", lambda: _relay(settings, session))
        if workers:
            # What they bring is extracted here, not by each of them.
            every = Duties.understand(None, settings, concurrency=None, is_supervised=True)
            words = ["--only", every.besides_extraction]
            watches.add("the supervisor of workers", lambda: _supervisor(settings, workers, words))
            watches.add("extraction", lambda: extraction(settings, session, watches.space))
        say(f"PostgreSQL is up; {workers} workers. Ctrl-C stops everything cleanly.")
        if console:
            await _open_doors(settings, session, watches)
        company = ProcessGroup(watches.members, farewell_seconds=FAREWELL_SECONDS)
        async with stopping_on_signals(company):
            await company.run()


def _schedule(settings: Settings, session: Session) -> Component:
    """What runs by itself, when it is this process's turn to lead."""
    from messor.schedule import clockwork  # noqa: PLC0415 - workers start without it

    registry = clockwork.standard_registry(settings)
    return clockwork.Clockwork(session.database, registry, asyncio.Event(), repair=session.repair)


async def _open_doors(settings: Settings, session: Session, watches: WatchedComponents) -> None:
    """The console and the API; who comes first is led to making the first admin."""
    from messor.cli.serve import WebServer  # noqa: PLC0415 - workers start without it

    doors = WebServer(settings, session.database, watches.board)
    here = settings.model_copy(update={"listen_port": doors.port})  # where people know it

    def open_again() -> WebServer:
        return WebServer(here, session.database, watches.board)

    watches.add("the console and the API", open_again, first=doors)
    say(f"The console: {doors.url}   The API: {doors.url}/api/v1")
    link = await links.offer_first_admin(session.database)
    if link is not None:
        say(f"Make the first admin, within a day: {link.url(doors.url)}")


def _relay(settings: Settings, session: Session) -> Component:
    """Carries hints at jobs to the broker, when it is this process's turn."""
    with needing_broker():
        from messor.jobs.broker.app import build_app  # noqa: PLC0415 - an extra
        from messor.jobs.broker.publisher import Publisher  # noqa: PLC0415 - an extra
        from messor.jobs.broker.relay import Relay  # noqa: PLC0415 - an extra
    options = options_of(settings)
    return Relay(
        session.database,
        Publisher(build_app(options), options),
        leader.holder_name(),
        job_types(settings),
        options,
        repair=session.repair,
    )
