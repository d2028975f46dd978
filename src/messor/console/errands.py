"""Errands: work that a form begins and that outlasts its request, so many at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from messor.core.logs import room_logger
from messor.errors import MessorError, UnavailableError

MOST = 20

logger = room_logger(__name__)


class BackgroundTasks:
    """Holds what is under way in this process; nobody else would."""

    def __init__(self) -> None:
        self._under_way: set[asyncio.Task[Any]] = set()

    def require_room(self) -> None:
        """Raise a sentence when too much is under way already."""
        if len(self._under_way) >= MOST:
            raise UnavailableError("Too many ingestions are under way here. Try again in a moment.")

    def begin(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, MessorError):
            logger.error("Work begun by a form failed", exc_info=error)

    async def close(self) -> None:
        """End what is under way; call it before the database is closed."""
        ending = list(self._under_way)
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
