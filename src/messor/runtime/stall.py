"""Detects components that make no progress: an activity without a beat for its patience.

Silence is counted in looks, each for at most its interval, and only while the database responds:
neither a suspended machine, a stopped process, a clock step nor an outage counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from messor.core.heartbeat import Heartbeat
from messor.errors import UnavailableError
from messor.jobs.poller import wait

LOOK_SECONDS = 5.0

Responds = Callable[[], Awaitable[bool]]


async def always() -> bool:
    """For components that do without a database."""
    return True


class StallDetector:
    """Watches the heartbeat of one component, from look to look."""

    def __init__(self, heartbeat: Heartbeat, responds: Responds, look_seconds: float) -> None:
        self._heartbeat = heartbeat
        self._responds = responds
        self._look_seconds = look_seconds
        self._seen: dict[str, int] = {}
        self._silent_seconds: dict[str, float] = {}

    async def look(self) -> str | None:
        """The activity that has been silent for too long, if any."""
        latest = dict(self._heartbeat.latest)
        silent = [name for name, step in latest.items() if self._seen.get(name) == step]
        self._seen = latest
        self._silent_seconds = {name: self._silent_seconds.get(name, 0.0) for name in silent}
        if not silent or not await self._responds():
            return None
        for name in silent:
            self._silent_seconds[name] += self._look_seconds
        worst = max(silent, key=self._silent_seconds.__getitem__)
        patience = self._heartbeat.patience_seconds
        return worst if self._silent_seconds[worst] >= patience else None


class StallWatch:
    """Ends its process, by raising, when a component that cannot be restarted alone hangs."""

    def __init__(
        self,
        name: str,
        heartbeat: Heartbeat,
        responds: Responds,
        *,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._name = name
        self._detector = StallDetector(heartbeat, responds, look_seconds)
        self._look_seconds = look_seconds
        self._stop = asyncio.Event()

    def stop(self) -> None:
        self._stop.set()

    async def run(self) -> None:
        while not self._stop.is_set():
            await wait(self._stop, self._look_seconds)
            if (activity := await self._detector.look()) is not None:
                raise UnavailableError(f"{self._name} makes no progress ({activity}).")
