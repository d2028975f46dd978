"""`messor up`: everything on one machine, until it is stopped.

This process only supervises: workers, and one process for the schedule, webhooks, extraction, the
console and the API. Whichever of them ends or hangs is replaced while the others go on.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from functools import partial

import click

from messor.cli.output import run
from messor.cli.supervisors import SHUTDOWN_SECONDS, worker_supervisor
from messor.core.metrics import as_text
from messor.core.terminal import say
from messor.runtime.components import WatchedComponents
from messor.runtime.ends import Lifeline, stopping_on_signals
from messor.runtime.process_group import Component, ProcessGroup
from messor.runtime.pulse import Pulse
from messor.runtime.server.hosts import console_url
from messor.runtime.server.listener import inherited, listen
from messor.runtime.supervisor import RestartPolicy, Supervisor
from messor.runtime.watchdog import WatchedComponent
from messor.settings import Settings
from messor.store.session import Session, open_session

SERVER_COMMAND = (sys.executable, "-m", "messor", "up", "--supervised")
SUPERVISOR_CONNECTIONS = 2
CONNECTIONS = 10


@click.command()
@click.option("--workers", default=1, show_default=True, type=click.IntRange(0, 64),
              help="Number of worker processes; with 0, workers on other machines do the work.")  # fmt: skip
@click.option("--console/--no-console", default=True, help="Serve the console and the API.")
@click.option("--supervised", is_flag=True, hidden=True, help="Run what is not a worker's work.")
@click.option("--socket", "descriptor", type=int, hidden=True, help="Serve on this descriptor.")
def up(workers: int, *, console: bool, supervised: bool, descriptor: int | None) -> None:
    """Run PostgreSQL, workers, the schedule, the console and the API until Ctrl-C.

    \b
    Example:
      messor up --workers 2
    """
    run(_serve(workers, descriptor) if supervised else _up(workers, console=console))


async def _up(workers: int, *, console: bool) -> None:
    """Supervise all processes of one machine."""
    settings = Settings()
    async with open_session(settings, pool_size=SUPERVISOR_CONNECTIONS) as session:
        watches = WatchedComponents(settings, session)
        watches.give_metrics("supervisor")
        watches.export_metrics()
        listening = listen(settings.listen_host, settings.listen_port) if console else None
        if workers:
            # Pages are extracted in the server process, not by each worker.
            arguments = ["--besides-extraction"]
            on_hang = partial(watches.report_hang, "worker processes")
            watches.add(
                "the worker supervisor",
                lambda: worker_supervisor(settings, workers, arguments, on_hang),
            )
        watches.add("the server process", lambda: _server(settings, workers, listening, watches))
        say(f"PostgreSQL is up; {workers} workers. Ctrl-C stops everything cleanly.")
        if listening is not None:
            await _show_links(settings, session, listening)
        group = ProcessGroup(watches.members, farewell_seconds=SHUTDOWN_SECONDS)
        async with stopping_on_signals(group):
            await group.run()


def _server(
    settings: Settings, workers: int, listening: socket.socket | None, watches: WatchedComponents
) -> Supervisor:
    """Return the supervisor of the process that is no worker."""
    command = [*SERVER_COMMAND, "--workers", str(workers)]
    descriptors = [] if listening is None else [listening.fileno()]
    for number in descriptors:
        command += ["--socket", str(number)]
    return Supervisor(
        command,
        1,
        say=say,
        ceiling_mb=settings.worker_memory_mb,
        policy=RestartPolicy(hang_seconds=settings.hang_seconds),
        name="Server",
        pass_fds=descriptors,
        on_hang=partial(watches.report_hang, "server processes"),
    )


async def _show_links(settings: Settings, session: Session, listening: socket.socket) -> None:
    """Print where the console is, and a link that creates the first admin."""
    from messor.access import links  # noqa: PLC0415 - asked once; this process stays small

    url = console_url(settings, listening.getsockname()[1])
    say(f"Console: {url}   API: {url}/api/v1")
    link = await links.offer_first_admin(session.database)
    if link is not None:
        say(f"Create the first admin within a day: {link.url(url)}")


async def _serve(workers: int, descriptor: int | None) -> None:
    """Run the components that are no worker's, including the relay if a broker is configured."""
    # The supervisor starts without them: what it loads stays in memory for nothing.
    from messor.entities.follow import follower  # noqa: PLC0415
    from messor.ops.webhooks.dispatch import Dispatcher  # noqa: PLC0415
    from messor.runtime.worker_process import extraction  # noqa: PLC0415
    from messor.watches.watcher import watcher  # noqa: PLC0415

    settings = Settings()
    async with open_session(settings, pool_size=CONNECTIONS) as session:
        watches = WatchedComponents(settings, session)
        watches.give_metrics("server", lambda: _figures(settings, session))
        watches.add("the schedule", lambda: _schedule(settings, session))
        watches.add("webhooks", lambda: Dispatcher(session.database))
        watches.add("watches", lambda: watcher(settings, session.database))
        watches.add("entities", lambda: follower(session.database))
        if settings.broker_url is not None:
            watches.add("the broker relay", lambda: _relay(settings, session))
        if workers:
            watches.add("extraction", lambda: extraction(settings, session, watches))
        if descriptor is not None:
            watches.add(
                "the console and the API",
                lambda: _web_server(settings, session, watches, descriptor),
            )
        members: list[Component] = [Lifeline(), Pulse(), *watches.members]
        group = ProcessGroup(members, farewell_seconds=SHUTDOWN_SECONDS)
        async with stopping_on_signals(group):
            await group.run()


def _schedule(settings: Settings, session: Session) -> WatchedComponent:
    """Return the component that runs the schedule while this process is the leader."""
    # Supervisors start without them.
    from messor.schedule.clockwork import Clockwork  # noqa: PLC0415
    from messor.schedule.standard import standard_registry  # noqa: PLC0415

    registry = standard_registry(settings)
    return Clockwork(session.database, registry, asyncio.Event(), repair=session.repair)


async def _figures(settings: Settings, session: Session) -> str:
    """The figures of the installation, beside this process's metrics."""
    from messor.ops.figures import measure  # noqa: PLC0415 - only needed where somebody asks

    return as_text(await measure(session.database, settings))


def _web_server(
    settings: Settings, session: Session, watches: WatchedComponents, descriptor: int
) -> WatchedComponent:
    from messor.cli.serve import WebServer  # noqa: PLC0415 - supervisors start without it

    listening = inherited(descriptor)
    actual = settings.model_copy(update={"listen_port": listening.getsockname()[1]})
    return WebServer(
        actual, session.database, watches.board, listening=listening, metrics=watches.metrics
    )


def _relay(settings: Settings, session: Session) -> WatchedComponent:
    """Return the component that relays job hints to the broker while it holds the relay lease."""
    from messor.jobs.broker.options import options_of  # noqa: PLC0415 - see `_serve`
    from messor.runtime.worker_process import job_types, needing_broker  # noqa: PLC0415 - see `_serve`
    from messor.schedule import leader  # noqa: PLC0415 - see `_serve`

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
