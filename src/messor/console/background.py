"""Background tasks: bounded work that a form starts and that outlives its request."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from messor.core.logs import room_logger
from messor.errors import MessorError, UnavailableError

MAX_TASKS = 20

logger = room_logger(__name__)


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
