"""A process and its components: each has its own watchdog and raises alarms.

One component's failure or hang never ends the others. What ends a process on purpose, such as its
memory limit or the end of its supervisor, is not one of these.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from messor.core.metrics import Metrics
from messor.ledger import events
from messor.ledger.alarms import AlarmBoard, AlarmKeeper
from messor.ledger.events import Event
from messor.ops.clock_watch import ClockWatch
from messor.ops.disk_watch import DiskWatch
from messor.runtime.metrics_socket import MetricsSocket, More
from messor.runtime.process_group import Component
from messor.runtime.watchdog import Watchdog, WatchedComponent
from messor.settings import Settings
from messor.store.database import LOST_CONNECTION, TRY_AGAIN
from messor.store.session import Session
from messor.store.space import Space

STALLED = "component.stalled"
EVENT_SECONDS = 10.0
REPORT_SECONDS = 600.0  # how long a process that hung is reported


class WatchedComponents:
    """The watched components of one process."""

    def __init__(self, settings: Settings, session: Session) -> None:
        self.board = AlarmBoard()
        self.space = Space.of(settings, session.database)
        self.members: list[Component] = []
        self.metrics = Metrics()
        self._settings = settings
        self._database = session.database
        self.add("the watch over disks", lambda: DiskWatch(self.space, self.board))
        self.add("the watch over the clock", lambda: _clock_watch(settings, session, self.board))
        self.add("the copy of alarms", lambda: AlarmKeeper(session.database, self.board))

    def give_metrics(self, role: str, more: More | None = None) -> None:
        """Give out this process's metrics, and `more` besides."""
        given = {} if more is None else {"more": more}

        def make() -> WatchedComponent:
            return MetricsSocket(
                self._settings.data_dir,
                role,
                self.metrics,
                responds=self._database.responds,
                **given,
            )

        self.add("the metrics", make)

    def export_metrics(self) -> None:
        """Let Prometheus ask for the metrics of this machine, if an address is configured."""
        listen = self._settings.metrics_listen
        if listen:
            from messor.runtime.exporter import Exporter  # noqa: PLC0415 - it loads a web server

            self.add("the metrics listener", lambda: Exporter(listen, self._settings.data_dir))

    def add(
        self,
        name: str,
        make: Callable[[], WatchedComponent],
        *,
        first: WatchedComponent | None = None,
    ) -> None:
        """Watch a component; `make` creates a replacement after a failure, `first` exists already."""
        watchdog = Watchdog(
            name,
            make,
            self.board,
            first=first,
            responds=self._database.responds,
            on_stall=self.report_stall,
        )
        self.members.append(watchdog)

    async def report_hang(self, name: str, message: str) -> None:
        """Report for a while that a process hung; its supervisor has replaced it."""
        self.board.sound(name, message)
        loop = asyncio.get_running_loop()
        loop.call_later(REPORT_SECONDS, self.board.end, name, f"{name} respond again")
        await self.report_stall(name, message)

    async def report_stall(self, name: str, message: str) -> None:
        """Record that a component hung; its alarm and its log entry do without the database."""
        event = Event(STALLED, self.board.place, data={"component": name, "message": message})
        with contextlib.suppress(TimeoutError, *LOST_CONNECTION, *TRY_AGAIN):
            async with asyncio.timeout(EVENT_SECONDS), self._database.transaction() as connection:
                await events.record(connection, [event])


@contextlib.asynccontextmanager
async def watching_clock(settings: Settings, session: Session) -> AsyncIterator[ClockWatch]:
    """For a command that fetches by itself, when nothing else may notice a clock step."""
    board = AlarmBoard()
    first = _clock_watch(settings, session, board)

    def another() -> WatchedComponent:
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
