"""Dependencies of the console, provided by whoever starts it; its rate limits and background tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from jinja2 import Environment

from messor.access.login import LoginService
from messor.access.origin import Origin
from messor.access.principal import Principal
from messor.access.ratelimits import Limit
from messor.analytics.answers import Analytics
from messor.console.api_reference import ApiReference
from messor.console.live import LiveBoard
from messor.console.visibility_overview import VisibilityOverviews
from messor.core.logs import room_logger
from messor.errors import MessorError, UnavailableError
from messor.fetch.proxies.seal import Seal
from messor.fetch.services.identity_provider import IdentityProvider
from messor.insight.full_text import FullText
from messor.runtime.server.rates import Rates, Streams
from messor.settings import Settings
from messor.store.database import Database

MINUTE = timedelta(minutes=1)
MAX_STREAMS = 100  # live pages per process


MAX_TASKS = 20
logger = room_logger(__name__)


class ConsoleRates:
    """The rate limits of one console."""

    def __init__(self, settings: Settings) -> None:
        self._members = Rates(Limit(settings.console_requests_per_minute, MINUTE))
        self._anonymous = Rates(Limit(settings.console_stranger_requests_per_minute, MINUTE))
        self.streams = Streams(MAX_STREAMS, settings.streams_per_member)

    def charge(self, principal: Principal | None, origin: Origin) -> None:
        """Count one request; raises ThrottledError."""
        if principal is None:
            self._anonymous.take(origin.network)
        else:
            self._members.take(principal.actor)


class BackgroundTasks:
    """Keeps references to the running tasks of this process so they are not garbage-collected."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def require_room(self) -> None:
        """Raise when too many tasks are already running."""
        if len(self._running) >= MAX_TASKS:
            raise UnavailableError("Too many ingestions are running; try again in a moment.")

    def begin(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, MessorError):
            logger.error("Background task failed", exc_info=error)

    async def close(self) -> None:
        """Cancel running tasks; call before the database is closed."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class ConsoleContext:
    """Shared by all requests."""

    settings: Settings
    database: Database
    logins: LoginService
    board: LiveBoard
    templates: Environment
    rates: ConsoleRates
    public_submission: bool  # whether anonymous people may request domains
    seal: Seal  # encrypts stored secrets
    overviews: VisibilityOverviews
    full_text: FullText
    analytics: Analytics
    identity_provider: IdentityProvider | None = None
    api_reference: ApiReference | None = None
    background: BackgroundTasks = field(default_factory=BackgroundTasks)
