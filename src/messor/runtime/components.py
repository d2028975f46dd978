"""A process and its components: each has its own watchdog, and what is wrong with it is told.

One component's failure never ends the others. What ends a process on purpose, such as its memory
ceiling or the end of its supervisor, stays outside of these.
"""

from __future__ import annotations

from collections.abc import Callable

from messor.ledger.alarms import AlarmBoard, AlarmKeeper
from messor.ops.clock_watch import ClockWatch
from messor.ops.disk_watch import DiskWatch
from messor.runtime.process_group import Component
from messor.runtime.watchdog import Watchdog
from messor.settings import Settings
from messor.store.session import Session
from messor.store.space import Space


class WatchedComponents:
    """The components of one process, under watch."""

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
        """Watch a component; `make` makes another when one failed, `first` is there already."""
        self.members.append(Watchdog(name, make, self.board, first=first))


def _clock_watch(settings: Settings, session: Session, board: AlarmBoard) -> Component:
    return ClockWatch(session.database, board, worker_lease=settings.worker_lease)
