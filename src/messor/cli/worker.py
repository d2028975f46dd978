"""`messor worker`: runs one or several workers until they are stopped."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial

import click

from messor.cli.output import run
from messor.cli.supervisors import SHUTDOWN_SECONDS, worker_supervisor
from messor.core.terminal import say
from messor.errors import UsageError
from messor.jobs.broker.options import options_of
from messor.ledger.alarms import AlarmBoard
from messor.runtime.ends import MEGABYTE, resident_bytes, stopping_on_signals
from messor.runtime.exporter import Exporter
from messor.runtime.process_group import ProcessGroup
from messor.runtime.supervisor import Supervisor
from messor.runtime.watchdog import Watchdog
from messor.runtime.worker_process import EXTRACT, Duties, WorkerProcess
from messor.settings import Settings

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
@click.option("--besides-extraction", is_flag=True, hidden=True, help="All work but extraction.")
def worker(
    processes: int | None,
    concurrency: int | None,
    only: str | None,
    *,
    broker: bool | None,
    supervised: bool,
    besides_extraction: bool,
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
    if besides_extraction:
        every = Duties.understand(None, settings, concurrency=None, is_supervised=supervised)
        only = every.besides_extraction
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
        run(
            _supervise(
                settings, processes, _supervisors(settings, duties, processes, broker=broker)
            )
        )


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
        supervisors.append(partial(worker_supervisor, settings, processes, [*limits, *scope]))
    if duties.extracts:
        supervisors.append(
            partial(worker_supervisor, settings, 1, ["--only", EXTRACT, "--no-broker"])
        )
    return supervisors


async def _supervise(settings: Settings, processes: int, supervisors: list[NewSupervisor]) -> None:
    """Run each under a watchdog: the failure of one does not stop the processes of another."""
    say(f"{processes} workers. Ctrl-C or SIGTERM stops all of them cleanly.")
    board = AlarmBoard()
    watched = [Watchdog("a supervisor of workers", start, board) for start in supervisors]
    if listen := settings.metrics_listen:
        watched.append(
            Watchdog("the metrics listener", lambda: Exporter(listen, settings.data_dir), board)
        )
    group = ProcessGroup(watched, farewell_seconds=SHUTDOWN_SECONDS)
    async with stopping_on_signals(group):
        await group.run()
