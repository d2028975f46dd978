"""What a worker process does: visits, extraction, jobs, in one event loop, with or without a broker.

Here the rooms whose jobs workers do are named; each registers its own.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from messor.core.terminal import say
from messor.crawl.worker import Worker
from messor.errors import UnavailableError, UsageError
from messor.jobs.broker.options import options_of
from messor.jobs.handlers import Handlers, Register, handlers_for
from messor.jobs.runner import Runner, RunnerLimits
from messor.ops import audit_job
from messor.ops.webhooks import deliver
from messor.runtime.components import WatchedComponents
from messor.runtime.lifeline import Lifeline
from messor.runtime.memory import Ceiling
from messor.runtime.process_group import Component, ProcessGroup
from messor.runtime.signals import stopping_on_signals
from messor.settings import Settings
from messor.store.database import Database
from messor.store.session import Session, open_session
from messor.store.space import Space


def register_searches(handlers: Handlers, settings: Settings, database: Database) -> None:
    """Snapshots of search engines, where any is configured."""
    if not settings.search_engines:
        return
    from messor.scout import track  # noqa: PLC0415 - most workers start without it
    from messor.scout.engines.registry import hire  # noqa: PLC0415 - see above
    from messor.scout.search import Searcher  # noqa: PLC0415 - see above

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        hired = []  # only what there is to do is asked for
    else:
        hired = hire(settings.search_engines)
    track.register(handlers, database, Searcher(database, hired))


ROOMS: tuple[Register, ...] = (audit_job.register, deliver.register, register_searches)

VISIT = "visit"
EXTRACT = "extract"
VISIT_CONNECTIONS = 4
EXTRACT_CONNECTIONS = 6  # batches under way, and questions to a model
JOB_CONNECTIONS = 6  # two transactions, claims, heartbeats, and what handlers read


@dataclass(frozen=True, slots=True)
class Duties:
    """What a process is to do, and under whom."""

    visits: bool
    extracts: bool
    job_types: frozenset[str]
    concurrency: int | None = None
    is_supervised: bool = False

    @classmethod
    def understand(
        cls, only: str | None, settings: Settings, *, concurrency: int | None, is_supervised: bool
    ) -> Duties:
        """From the names given: `visit`, `extract`, types of jobs; without any, everything."""
        known = {VISIT, EXTRACT, *job_types(settings)}
        names = known if only is None else {name.strip() for name in only.split(",")}
        if unknown := sorted(names - known):
            raise UsageError(
                f"There is nothing called {unknown[0]!r} to do; there are {', '.join(sorted(known))}."
            )
        types = frozenset(names - {VISIT, EXTRACT})
        return cls(VISIT in names, EXTRACT in names, types, concurrency, is_supervised)

    @property
    def connections(self) -> int:
        """What all members need at a time."""
        return (
            VISIT_CONNECTIONS * self.visits
            + EXTRACT_CONNECTIONS * self.extracts
            + JOB_CONNECTIONS * bool(self.job_types)
        )

    @property
    def besides_extraction(self) -> str:
        """All other duties, as `--only` takes them: extraction has a process of its own beside many."""
        return ",".join(sorted({*self.job_types, *([VISIT] if self.visits else [])}))

    def limits(self, settings: Settings) -> RunnerLimits:
        """Jobs beside visits keep to their own bound; alone, they have what was asked for."""
        asked = self.concurrency or settings.job_concurrency
        return RunnerLimits(min(asked, settings.job_concurrency) if self.visits else asked)


@contextmanager
def needing_broker() -> Iterator[None]:
    """For imports of what only an installation with a broker needs."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise UnavailableError(
            f"{error.name} is not installed: pip install 'messor[broker]'"
        ) from error


def job_types(settings: Settings) -> list[str]:
    """Those that this release knows; registering them asks nothing of the database."""
    return handlers_for(ROOMS, settings, Database("")).job_types


class WorkerProcess:
    """The members of one process, for either way of dispatch."""

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

    def companions(self, session: Session) -> list[Component]:
        """All but the runner of jobs."""
        return self._enders() + self._watched(session).members

    def _enders(self) -> list[Component]:
        """Members whose end is the process's end."""
        members: list[Component] = [self._ceiling]
        if self._duties.is_supervised:
            members.append(Lifeline())
        return members

    def _watched(self, session: Session) -> WatchedComponents:
        watches = WatchedComponents(self.settings, session)
        if self._duties.visits:
            watches.add("visits", lambda: self._visits(session, watches.space))
        if self._duties.extracts:
            watches.add("extraction", lambda: extraction(self.settings, session, watches.space))
        return watches

    def _visits(self, session: Session, space: Space) -> Component:
        return Worker(self.settings, session.database, repair=session.repair, space=space)

    async def work(self) -> None:
        """Straight from PostgreSQL, until a signal, the supervisor's end or the ceiling."""
        async with open_session(self.settings, pool_size=self._duties.connections) as session:
            watches = self._watched(session)
            if self._duties.job_types:
                watches.add("jobs", lambda: self._runner(session))
            members = self._enders() + watches.members
            say(f"Worker {os.getpid()} is at work. Ctrl-C or SIGTERM stops it cleanly.")
            company = ProcessGroup(members)
            async with stopping_on_signals(company):
                await company.run()
            if company.was_cut_short:
                say(
                    f"Worker {os.getpid()} could not finish in time; its work comes back by itself."
                )

    def work_with_broker(self) -> int:
        """As a Celery worker; answers the exit code."""
        with needing_broker():
            from messor.runtime import broker_thread, broker_worker  # noqa: PLC0415 - an extra

        def compose(session: Session) -> broker_thread.BrokerCrew:
            say(f"Worker {os.getpid()} is at work. Ctrl-C or SIGTERM stops it cleanly.")
            return broker_thread.BrokerCrew(self.handlers(session), self.companions(session))

        options = options_of(self.settings)
        return broker_worker.run_celery_worker(
            self.settings,
            compose,
            options,
            self.limits,
            new_loop=new_loop,
            connections=self._duties.connections,
        )

    def _runner(self, session: Session) -> Runner:
        return Runner(
            session.database,
            self.handlers(session),
            f"{socket.gethostname()}:{os.getpid()}",
            self.limits,
            repair=session.repair,
        )


def extraction(settings: Settings, session: Session, space: Space) -> Component:
    """Makes records of what workers on this machine bring."""
    from messor.extraction.component import ExtractionFollower  # noqa: PLC0415 - many workers start without it

    return ExtractionFollower(settings, session, space=space)


def new_loop() -> asyncio.AbstractEventLoop:
    """The fastest there is."""
    if sys.platform == "win32":
        return asyncio.new_event_loop()
    import uvloop  # noqa: PLC0415 - not made for every platform

    return uvloop.new_event_loop()
