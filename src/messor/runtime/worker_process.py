"""A worker process: visits, extraction and jobs in one event loop, with or without a broker.

This module names the rooms whose jobs workers handle; each registers its own.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from messor.analytics import jobs as analytics_jobs
from messor.core.metrics import Metrics
from messor.core.terminal import say
from messor.crawl.worker import Worker
from messor.errors import UnavailableError, UsageError
from messor.exports import job as export_job
from messor.jobs.broker.options import options_of
from messor.jobs.handlers import Handlers, Register, handlers_for
from messor.jobs.runner import Runner, RunnerLimits
from messor.mail import deliver as mail_delivery
from messor.ops import archive_job, audit_job
from messor.ops.backup import job as backup_job
from messor.ops.webhooks import deliver
from messor.ops.webhooks import scrape_jobs as scrape_webhooks
from messor.runtime.components import WatchedComponents
from messor.runtime.ends import Ceiling, Lifeline, stopping_on_signals
from messor.runtime.process_group import Component, ProcessGroup
from messor.runtime.pulse import Pulse
from messor.runtime.watchdog import WatchedComponent
from messor.settings import Settings
from messor.store.database import Database
from messor.store.session import Session, open_session


def register_flags(handlers: Handlers, settings: Settings, database: Database) -> None:
    """Register the judging of pages extracted before their domain had a vertical."""
    from messor.insight.relevance import backlog  # noqa: PLC0415 - most commands start without it

    backlog.register(handlers, settings, database)


def register_searches(handlers: Handlers, settings: Settings, database: Database) -> None:
    """Register search engine snapshots, if any engine is configured."""
    if not settings.search_engines:
        return
    from messor.scout import track  # noqa: PLC0415 - most workers start without it
    from messor.scout.engines.registry import hire  # noqa: PLC0415 - see above
    from messor.scout.search import Searcher  # noqa: PLC0415 - see above

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        registered = []  # only what may be needed
    else:
        registered = hire(settings.search_engines)
    track.register(handlers, database, Searcher(database, registered))


def register_search_server(handlers: Handlers, settings: Settings, database: Database) -> None:
    """Register what fills the index of a search server, if one is configured."""
    if settings.search_server_url is None:
        return
    from messor.insight.search_server import jobs as search_jobs  # noqa: PLC0415 - see above

    search_jobs.register(handlers, settings, database)


ROOMS: tuple[Register, ...] = (
    analytics_jobs.register,
    archive_job.register,
    audit_job.register,
    backup_job.register,
    export_job.register,
    register_flags,
    deliver.register,
    scrape_webhooks.register,
    mail_delivery.register,
    register_searches,
    register_search_server,
)

VISIT = "visit"
EXTRACT = "extract"
VISIT_CONNECTIONS = 4
EXTRACT_CONNECTIONS = 6  # batches in progress, and requests to a model
JOB_CONNECTIONS = 6  # two transactions, claims, heartbeats, and handlers' reads


@dataclass(frozen=True, slots=True)
class Duties:
    """What a process is to do, and for whom."""

    visits: bool
    extracts: bool
    job_types: frozenset[str]
    concurrency: int | None = None
    is_supervised: bool = False

    @classmethod
    def understand(
        cls, only: str | None, settings: Settings, *, concurrency: int | None, is_supervised: bool
    ) -> Duties:
        """Parse names: `visit`, `extract`, job types; without any, everything."""
        known = {VISIT, EXTRACT, *job_types(settings)}
        names = known if only is None else {name.strip() for name in only.split(",")}
        if unknown := sorted(names - known):
            raise UsageError(
                f"Unknown kind of work {unknown[0]!r}; choose from: {', '.join(sorted(known))}."
            )
        types = frozenset(names - {VISIT, EXTRACT})
        return cls(VISIT in names, EXTRACT in names, types, concurrency, is_supervised)

    @property
    def connections(self) -> int:
        """Database connections that all components need at a time."""
        return (
            VISIT_CONNECTIONS * self.visits
            + EXTRACT_CONNECTIONS * self.extracts
            + JOB_CONNECTIONS * bool(self.job_types)
        )

    @property
    def besides_extraction(self) -> str:
        """All other duties, as for `--only`: extraction has its own process beside several workers."""
        return ",".join(sorted({*self.job_types, *([VISIT] if self.visits else [])}))

    def limits(self, settings: Settings) -> RunnerLimits:
        """Job limits: beside visits their own, alone the requested number."""
        requested = self.concurrency or settings.job_concurrency
        return RunnerLimits(min(requested, settings.job_concurrency) if self.visits else requested)


@contextmanager
def needing_broker() -> Iterator[None]:
    """Import what only an installation with a broker needs."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise UnavailableError(
            f"{error.name} is not installed: pip install 'messor[broker]'"
        ) from error


def job_types(settings: Settings) -> list[str]:
    """The job types of this release; needs no database."""
    return handlers_for(ROOMS, settings, Database("")).job_types


class WorkerProcess:
    """The components of one process, with or without a broker."""

    def __init__(self, settings: Settings, duties: Duties) -> None:
        if duties.concurrency is not None:
            settings = settings.model_copy(update={"concurrency": duties.concurrency})
        self.settings = settings
        self.limits = duties.limits(settings)
        self._duties = duties
        self._ceiling = Ceiling(settings.worker_memory_mb)

    @property
    def is_outgrown(self) -> bool:
        return self._ceiling.is_outgrown

    def handlers(self, session: Session) -> Handlers:
        every = handlers_for(ROOMS, self.settings, session.database)
        return every.only(self._duties.job_types)

    def components(self, session: Session) -> tuple[list[Component], Metrics]:
        """All components but the job runner, and the metrics of the process."""
        watches = self._watched(session)
        return self._terminators() + watches.members, watches.metrics

    def _terminators(self) -> list[Component]:
        """Components whose end ends the process."""
        members: list[Component] = [self._ceiling]
        if self._duties.is_supervised:
            members += [Lifeline(), Pulse()]
        return members

    def _watched(self, session: Session) -> WatchedComponents:
        watches = WatchedComponents(self.settings, session)
        watches.give_metrics("worker" if self._duties.visits else "extraction")
        if not self._duties.is_supervised:
            watches.export_metrics()
        if self._duties.visits:
            watches.add("visits", lambda: self._visits(session, watches))
        if self._duties.extracts:
            watches.add("extraction", lambda: extraction(self.settings, session, watches))
        return watches

    def _visits(self, session: Session, watches: WatchedComponents) -> Worker:
        return Worker(
            self.settings,
            session.database,
            repair=session.repair,
            space=watches.space,
            metrics=watches.metrics,
        )

    async def work(self) -> None:
        """Poll PostgreSQL until a signal, the supervisor's end or the memory limit."""
        async with open_session(self.settings, pool_size=self._duties.connections) as session:
            watches = self._watched(session)
            if self._duties.job_types:
                watches.add("jobs", lambda: self._runner(session, watches))
            members = self._terminators() + watches.members
            say(f"Worker {os.getpid()} is running. Ctrl-C or SIGTERM stops it cleanly.")
            process_group = ProcessGroup(members)
            async with stopping_on_signals(process_group):
                await process_group.run()
            if process_group.was_cut_short:
                say(
                    f"Worker {os.getpid()} did not finish in time; its work will be retried automatically."
                )

    def work_with_broker(self) -> int:
        """Run as a Celery worker; return the exit code."""
        with needing_broker():
            from messor.runtime import broker_thread, broker_worker  # noqa: PLC0415 - an extra

        def compose(session: Session) -> broker_thread.EngineSetup:
            say(f"Worker {os.getpid()} is running. Ctrl-C or SIGTERM stops it cleanly.")
            return broker_thread.EngineSetup(self.handlers(session), *self.components(session))

        options = options_of(self.settings)
        return broker_worker.run_celery_worker(
            self.settings,
            compose,
            options,
            self.limits,
            new_loop=new_loop,
            connections=self._duties.connections,
        )

    def _runner(self, session: Session, watches: WatchedComponents) -> Runner:
        return Runner(
            session.database,
            self.handlers(session),
            f"{socket.gethostname()}:{os.getpid()}",
            self.limits,
            repair=session.repair,
            metrics=watches.metrics,
        )


def extraction(
    settings: Settings, session: Session, watches: WatchedComponents
) -> WatchedComponent:
    """Extracts records from pages fetched on this machine."""
    from messor.extraction.component import ExtractionFollower  # noqa: PLC0415 - many workers start without it

    return ExtractionFollower(settings, session, space=watches.space, metrics=watches.metrics)


def new_loop() -> asyncio.AbstractEventLoop:
    """The fastest event loop available."""
    if sys.platform == "win32":
        return asyncio.new_event_loop()
    import uvloop  # noqa: PLC0415 - not made for every platform

    return uvloop.new_event_loop()
