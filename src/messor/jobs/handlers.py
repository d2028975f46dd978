"""Handlers: which function performs which job type.

Each room has a `register` for its types, which the process calls; the queue itself knows none. A
handler's writes are its *effects*: they run in the transaction that also records the job as done,
and may run again if that transaction did not commit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import Any

from messor.errors import UnavailableError
from messor.jobs.cancellation import cancel
from messor.jobs.jobs import Job
from messor.settings import Settings
from messor.store.database import Connection, Database

Result = dict[str, Any] | None
Effects = Callable[[Connection], Awaitable[Result]]
Preparation = Callable[[Job], Awaitable[Effects]]
Handler = Callable[[Connection, Job], Awaitable[Result]]

LIMIT_SECONDS = 900.0  # for one attempt of a job
LONG_SECONDS = 6 * 3600.0  # for job types that read whole tables


class JobTimeoutError(UnavailableError):
    """One attempt of a job took longer than its limit."""


class Handlers:
    """The job types a process can perform."""

    def __init__(self) -> None:
        self._preparations: dict[str, Preparation] = {}
        self._limits: dict[str, float] = {}

    @property
    def job_types(self) -> list[str]:
        return sorted(self._preparations)

    def handles(self, job_type: str) -> Callable[[Handler], Handler]:
        """Register quick work on the database alone: all of it is effects.

        @handlers.handles("score")
        async def score(connection: Connection, job: Job) -> Result: ...
        """

        def register(handler: Handler) -> Handler:
            async def prepare(job: Job) -> Effects:
                return lambda connection: handler(connection, job)

            self._add(job_type, prepare)
            return handler

        return register

    def prepares(
        self, job_type: str, *, limit_seconds: float = LIMIT_SECONDS
    ) -> Callable[[Preparation], Preparation]:
        """Register work that waits for others: it runs without a transaction and returns effects.

        An attempt that takes longer than its limit has failed. The work shares the process's few connections with the leases: a handler that holds one for long
        must limit itself to one at a time.

        @handlers.prepares("classify")
        async def classify(job: Job) -> Effects:
            answer = await model.ask(job.payload)
            return partial(store_answer, answer)
        """

        def register(preparation: Preparation) -> Preparation:
            self._add(job_type, preparation, limit_seconds)
            return preparation

        return register

    def only(self, job_types: Collection[str]) -> Handlers:
        """The same, restricted to some types."""
        chosen = Handlers()
        for job_type in self._preparations.keys() & job_types:
            chosen._add(job_type, self._preparations[job_type], self._limits[job_type])
        return chosen

    async def prepare(self, job: Job) -> Effects:
        """Perform the part of a job that needs no transaction; raises JobTimeoutError."""
        limit = self._limits[job.job_type]
        work = asyncio.ensure_future(self._preparations[job.job_type](job))
        # Not `asyncio.timeout`: it would wait for a handler that ignores its cancellation.
        try:
            await asyncio.wait([work], timeout=limit)
        except asyncio.CancelledError:
            await cancel([work])
            raise
        if not work.done():
            await cancel([work])
            raise JobTimeoutError(f"The job did not end within {limit:,.0f} s.")
        return work.result()

    def _add(
        self, job_type: str, preparation: Preparation, limit_seconds: float = LIMIT_SECONDS
    ) -> None:
        if job_type in self._preparations:
            raise ValueError(f"Job type {job_type!r} already has a handler.")
        self._preparations[job_type] = preparation
        self._limits[job_type] = limit_seconds


Register = Callable[[Handlers, Settings, Database], None]


def handlers_for(rooms: Iterable[Register], settings: Settings, database: Database) -> Handlers:
    """The handlers of several rooms."""
    handlers = Handlers()
    for register in rooms:
        register(handlers, settings, database)
    return handlers
