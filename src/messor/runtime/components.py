"""A process and its components: each has its own watchdog and raises alarms.

One component's failure never ends the others. What ends a process on purpose, such as its memory
limit or the end of its supervisor, is not one of these.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from messor.ledger.alarms import AlarmBoard, AlarmKeeper
from messor.ops.clock_watch import ClockWatch
from messor.ops.disk_watch import DiskWatch
from messor.runtime.process_group import Component
from messor.runtime.watchdog import Watchdog
from messor.settings import Settings
from messor.store.session import Session
from messor.store.space import Space


class WatchedComponents:
    """The watched components of one process."""

    def __init__(self, settings: Settings, session: Session) -> None:
        self.board = AlarmBoard()
        self.space = Space.of(settings, session.database)
        self.members: list[Component] = []
        self.add("the watch over disks", lambda: DiskWatch(self.space, self.board))
        self.add("the watch over the clock", lambda: _clock_watch(settings, session, self.board))
        self.add("the copy of alarms", lambda: AlarmKeeper(session.database, self.board))

    def add(
        self, name: str, make: Callable[[], Component], *, first: Component | None = None
    ) -> None:
        """Watch a component; `make` creates a replacement after a failure, `first` exists already."""
        self.members.append(Watchdog(name, make, self.board, first=first))


@asynccontextmanager
async def watching_clock(settings: Settings, session: Session) -> AsyncIterator[ClockWatch]:
    """For a command that fetches by itself, when nothing else may notice a clock step."""
    board = AlarmBoard()
    first = _clock_watch(settings, session, board)

    def another() -> Component:
        return _clock_watch(settings, session, board)

    members = [
        Watchdog("the watch over the clock", another, board, first=first),
        Watchdog("the copy of alarms", lambda: AlarmKeeper(session.database, board), board),
    ]
    running = [asyncio.create_task(member.run()) for member in members]
    try:
        yield first
    finally:
        for member in members:
            member.stop()
        await asyncio.wait(running)


def _clock_watch(settings: Settings, session: Session, board: AlarmBoard) -> ClockWatch:
    return ClockWatch(session.database, board, worker_lease=settings.worker_lease)
