"""`messor worker` and `messor up`: run workers until they are stopped."""

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
from messor.runtime.process_group import Component, ProcessGroup
from messor.runtime.stopping import MEGABYTE, resident_bytes, stopping_on_signals
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

WORKER_COMMAND = (sys.executable, "-m", "messor", "worker", "--supervised")
CONNECTIONS = 10
SHUTDOWN_SECONDS = 40.0  # more than the workers' own limit

NewSupervisor = Callable[[], Supervisor]


@click.command()
@click.option("--processes", type=click.IntRange(1, 64),
              help="Number of worker processes, restarted when they exit; default: work in this process.")  # fmt: skip
@click.option("--concurrency", type=click.IntRange(1),
              help="Maximum concurrent visits per process, or jobs if it makes no visits.")  # fmt: skip
@click.option("--only", metavar="NAMES",
              help="Only this work, comma-separated: visit, extract, or job types.")  # fmt: skip
@click.option("--broker/--no-broker", default=None,
              help="Receive job hints from the broker, or poll; default: the broker if one is configured.")  # fmt: skip
@click.option("--supervised", is_flag=True, hidden=True, help="Exit when standard input closes.")
def worker(
    processes: int | None,
    concurrency: int | None,
    only: str | None,
    *,
    broker: bool | None,
    supervised: bool,
) -> None:
    """Crawl due pages, extract records and run jobs, until SIGTERM or Ctrl-C.

    With --processes, extraction runs in one additional process.

    \b
    Example:
      messor worker
      messor worker --processes 4 --only visit
      messor worker --broker --only audit
    """
    settings = Settings()
    duties = Duties.understand(only, settings, concurrency=concurrency, is_supervised=supervised)
    if broker and not duties.job_types:
        raise UsageError("--broker applies to jobs only; drop it, or add job types to --only.")
    if broker is None:
        broker = settings.broker_url is not None and bool(duties.job_types)
    if broker:
        options_of(settings)  # before any process starts
    if processes is None:
        _work(WorkerProcess(settings, duties), broker=broker)
    else:
        run(_supervise(processes, _supervisors(settings, duties, processes, broker=broker)))


def _work(process: WorkerProcess, *, broker: bool) -> None:
    """Work in this process; restart it when it exceeds its memory limit."""
    code = process.work_with_broker() if broker else run(process.work())
    if process.is_outgrown:
        used = resident_bytes() // MEGABYTE
        say(f"Worker {os.getpid()} uses {used} MB and is restarted.")
        sys.stderr.flush()
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - ourselves
    sys.exit(code or 0)


def _supervisors(
    settings: Settings, duties: Duties, processes: int, *, broker: bool
) -> list[NewSupervisor]:
    """Return what starts the supervisors of the workers and of one extraction process."""
    limits = [] if duties.concurrency is None else ["--concurrency", str(duties.concurrency)]
    supervisors: list[NewSupervisor] = []
    if duties.besides_extraction:
        scope = ["--only", duties.besides_extraction, "--broker" if broker else "--no-broker"]
        supervisors.append(partial(_supervisor, settings, processes, [*limits, *scope]))
    if duties.extracts:
        supervisors.append(partial(_supervisor, settings, 1, ["--only", EXTRACT, "--no-broker"]))
    return supervisors


async def _supervise(processes: int, supervisors: list[NewSupervisor]) -> None:
    """Run each under a watchdog: the failure of one does not stop the processes of another."""
    say(f"{processes} workers. Ctrl-C or SIGTERM stops all of them cleanly.")
    board = AlarmBoard()
    watched = [Watchdog("a supervisor of workers", start, board) for start in supervisors]
    group = ProcessGroup(watched, farewell_seconds=SHUTDOWN_SECONDS)
    async with stopping_on_signals(group):
        await group.run()


def _supervisor(settings: Settings, processes: int, arguments: list[str]) -> Supervisor:
    command = (*WORKER_COMMAND, *arguments)
    return Supervisor(command, processes, say=say, ceiling_mb=settings.worker_memory_mb)


@click.command()
@click.option("--workers", default=1, show_default=True, type=click.IntRange(0, 64),
              help="Number of worker processes; with 0, workers on other machines do the work.")  # fmt: skip
@click.option("--console/--no-console", default=True, help="Serve the console and the API.")
def up(workers: int, *, console: bool) -> None:
    """Run PostgreSQL, workers, the schedule, the console and the API until Ctrl-C.

    \b
    Example:
      messor up --workers 2
    """
    run(_up(workers, console=console))


async def _up(workers: int, *, console: bool) -> None:
    """Run all components of one machine, including the relay if a broker is configured."""
    settings = Settings()
    async with open_session(settings, pool_size=CONNECTIONS) as session:
        watches = WatchedComponents(settings, session)
        watches.add("the schedule", lambda: _schedule(settings, session))
        watches.add("webhooks", lambda: Dispatcher(session.database))
        if settings.broker_url is not None:
            watches.add("the broker relay", lambda: _relay(settings, session))
        if workers:
            # Pages are extracted in this process, not by each worker.
            all_duties = Duties.understand(None, settings, concurrency=None, is_supervised=True)
            arguments = ["--only", all_duties.besides_extraction]
            watches.add("the worker supervisor", lambda: _supervisor(settings, workers, arguments))
            watches.add("extraction", lambda: extraction(settings, session, watches.space))
        say(f"PostgreSQL is up; {workers} workers. Ctrl-C stops everything cleanly.")
        if console:
            await _start_console(settings, session, watches)
        group = ProcessGroup(watches.members, farewell_seconds=SHUTDOWN_SECONDS)
        async with stopping_on_signals(group):
            await group.run()


def _schedule(settings: Settings, session: Session) -> Component:
    """Return the component that runs the schedule while this process is the leader."""
    # Workers start without them.
    from messor.schedule.clockwork import Clockwork  # noqa: PLC0415
    from messor.schedule.standard import standard_registry  # noqa: PLC0415

    registry = standard_registry(settings)
    return Clockwork(session.database, registry, asyncio.Event(), repair=session.repair)


async def _start_console(settings: Settings, session: Session, watches: WatchedComponents) -> None:
    """Start the console and the API, and print a link that creates the first admin."""
    from messor.cli.serve import WebServer  # noqa: PLC0415 - workers start without it

    server = WebServer(settings, session.database, watches.board)
    same_port = settings.model_copy(update={"listen_port": server.port})

    def restart() -> WebServer:
        return WebServer(same_port, session.database, watches.board)

    watches.add("the console and the API", restart, first=server)
    say(f"Console: {server.url}   API: {server.url}/api/v1")
    link = await links.offer_first_admin(session.database)
    if link is not None:
        say(f"Create the first admin within a day: {link.url(server.url)}")


def _relay(settings: Settings, session: Session) -> Component:
    """Return the component that relays job hints to the broker while it holds the relay lease."""
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
