"""A process group: components that run in one event loop and end together.

When one component ends, in whatever way, the others are asked to stop. One that takes too long is
cancelled: what it held becomes available again when its leases expire.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

# A process has 30 seconds to end, including closing its connections.
FAREWELL_SECONDS = 28.0


class Component(Protocol):
    """A member of the group, such as the job runner or the worker that visits lanes."""

    def stop(self) -> None:
        """Finish the work in progress, and return from `run`."""

    async def run(self) -> None: ...


class ProcessGroup:
    """Stop it from its own loop, repeatedly if need be; `was_cut_short` tells how it ended."""

    def __init__(
        self, members: Sequence[Component], *, farewell_seconds: float = FAREWELL_SECONDS
    ) -> None:
        self._members = list(members)
        self._farewell_seconds = farewell_seconds
        self._stop = asyncio.Event()
        self.was_cut_short = False

    def stop(self) -> None:
        self._stop.set()

    async def run(self) -> None:
        """Run until one component ends or all are stopped; raise what ended the first that failed."""
        tasks = [asyncio.create_task(member.run()) for member in self._members]
        stopping = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait([*tasks, stopping], return_when=asyncio.FIRST_COMPLETED)
            for member in self._members:
                member.stop()
            _, late = await asyncio.wait(tasks, timeout=self._farewell_seconds)
            self.was_cut_short = bool(late)
        finally:
            await _cancel([stopping, *tasks])
        for task in tasks:
            if not task.cancelled():
                task.result()


async def _cancel(tasks: Sequence[asyncio.Task[Any]]) -> None:
    late = [task for task in tasks if not task.done()]
    for task in late:
        task.cancel()
    if late:
        await asyncio.wait(late)
