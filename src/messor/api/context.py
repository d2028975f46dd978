"""Shared by all routes: the application context and request dependencies."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated, Any, Self

from fastapi import Depends, Request

from messor.access.principal import Principal
from messor.access.ratelimits import Limit
from messor.analytics.answers import Analytics
from messor.core.fresh import Fresh
from messor.core.logs import room_logger
from messor.errors import MessorError
from messor.fetch.proxies.seal import Seal
from messor.insight.full_text import FullText
from messor.jobs import queries
from messor.jobs.queries import JobFigures
from messor.ledger.alarms import AlarmBoard
from messor.ops import vitals
from messor.ops.vitals import Vitals
from messor.runtime.server.rates import Streams
from messor.settings import Settings
from messor.store.database import Connection, Database
from messor.store.notifications import NotificationListener

logger = room_logger(__name__)


@dataclass(frozen=True, slots=True)
class ApiLimits:
    """Limits on requests, streams and ingestions."""

    known: Limit
    unknown: Limit
    streams: int = 100  # concurrent event streams in this process
    streams_for_one: int = 10
    ingestions: int = 50  # concurrent ingestions in this process

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The limits from the settings."""
        minute = timedelta(minutes=1)
        return cls(
            known=Limit(settings.api_requests_per_minute, minute),
            unknown=Limit(settings.api_stranger_requests_per_minute, minute),
            streams=settings.api_streams,
            streams_for_one=settings.streams_per_member,
            ingestions=settings.api_ingestions,
        )


@dataclass(slots=True)
class ApiContext:
    """Shared by all requests."""

    settings: Settings
    database: Database
    limits: ApiLimits
    session_cookie: str
    seal: Seal  # encrypts stored secrets
    alarms: AlarmBoard | None = None  # of this process
    is_closing: bool = False
    notifications: NotificationListener = field(init=False)
    streams: Streams = field(init=False)
    job_figures: Fresh[list[JobFigures]] = field(init=False)
    vitals: Fresh[Vitals] = field(init=False)
    full_text: FullText = field(init=False)
    analytics: Analytics = field(init=False)
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.notifications = NotificationListener(self.database)
        self.full_text = FullText.of(self.settings, self.database)
        self.analytics = Analytics.of(self.settings)
        self.streams = Streams(self.limits.streams, self.limits.streams_for_one)
        self.job_figures = Fresh(
            0.0, lambda: queries.stats(self.database), is_costly=queries.are_many
        )
        self.vitals = Fresh(
            0.0, lambda: vitals.vitals(self.database, self.alarms), is_costly=vitals.are_many
        )

    @property
    def running_tasks(self) -> int:
        return len(self._tasks)

    def begin(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a background task that may outlive its request; it ends with the application."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, MessorError):
            logger.error("Background task failed", exc_info=error)

    async def close(self) -> None:
        self.is_closing = True
        running_tasks = list(self._tasks)
        for task in running_tasks:
            task.cancel()
        await asyncio.gather(*running_tasks, return_exceptions=True)
        await self.full_text.close()


def context_of(request: Request) -> ApiContext:
    context: ApiContext = request.app.state.context
    return context


async def _context(request: Request) -> ApiContext:
    return context_of(request)


async def _database(request: Request) -> Database:
    return context_of(request).database


async def _full_text(request: Request) -> FullText:
    return context_of(request).full_text


async def _analytics(request: Request) -> Analytics:
    return context_of(request).analytics


async def _principal(request: Request) -> Principal:
    principal: Principal = request.state.principal
    return principal


async def _connection(request: Request) -> Connection:
    """The connection of this request's transaction."""
    connection: Connection = request.state.connection
    return connection


ContextDep = Annotated[ApiContext, Depends(_context)]
DatabaseDep = Annotated[Database, Depends(_database)]
AnalyticsDep = Annotated[Analytics, Depends(_analytics)]
FullTextDep = Annotated[FullText, Depends(_full_text)]
PrincipalDep = Annotated[Principal, Depends(_principal)]
TransactionDep = Annotated[Connection, Depends(_connection)]
