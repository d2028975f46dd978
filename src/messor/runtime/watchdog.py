"""The watchdog of one component: restarts it if it ends or hangs, while the others go on.

The delay grows while it keeps failing soon. Each failure is logged and raises an alarm until the
component has run well for a while. The watchdog never gives up. A component that hangs is
cancelled; one that ignores that is left behind: its leases and locks expire. What blocks the event
loop itself is noticed by the supervisor of the process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from messor.core.heartbeat import Heartbeat
from messor.core.logs import room_logger
from messor.jobs.poller import wait
from messor.ledger.alarms import AlarmBoard
from messor.runtime.process_group import Component
from messor.runtime.stall import LOOK_SECONDS, Responds, StallDetector, always
from messor.runtime.supervisor import RestartPolicy

CANCEL_SECONDS = 10.0

logger = room_logger(__name__)

# Called with the component's name and the message about what hangs.
OnStall = Callable[[str, str], Awaitable[None]]


class WatchedComponent(Component, Protocol):
    """A component whose progress can be seen."""

    @property
    def heartbeat(self) -> Heartbeat: ...


async def _tell_nobody(_name: str, _message: str) -> None:
    """For a process without a database; the alarm is logged."""


class Watchdog:
    """Runs a component, and a replacement after each failure, until stopped."""

    def __init__(
        self,
        name: str,
        make: Callable[[], WatchedComponent],
        board: AlarmBoard,
        *,
        first: WatchedComponent | None = None,
        policy: RestartPolicy | None = None,
        responds: Responds = always,
        on_stall: OnStall = _tell_nobody,
        look_seconds: float = LOOK_SECONDS,
        cancel_seconds: float = CANCEL_SECONDS,
    ) -> None:
        self._name = name
        self._make = make
        self._board = board
        self._policy = policy or RestartPolicy()
        self._responds = responds
        self._on_stall = on_stall
        self._look_seconds = look_seconds
        self._cancel_seconds = cancel_seconds
        self._stop = asyncio.Event()
        # Created here, so that invalid settings are reported at start.
        self._member: WatchedComponent | None = first or make()
        self._left_behind: set[asyncio.Task[None]] = set()
        self.failures = 0

    def stop(self) -> None:
        self._stop.set()
        if self._member is not None:
            self._member.stop()

    async def run(self) -> None:
        clock = asyncio.get_running_loop().time
        while not self._stop.is_set():
            started = clock()
            message = await self._run_one()
            if self._stop.is_set():
                return
            is_proven = clock() - started >= self._policy.proven_seconds
            self.failures = 1 if is_proven else self.failures + 1
            pause = self._policy.pause(self.failures)
            self._board.sound(
                self._name,
                f"{self._name} failed ({message}); restarting in {pause:.0f} s, "
                f"consecutive failure {self.failures}",
            )
            await wait(self._stop, pause)

    async def _run_one(self) -> str:
        """Run one component to its end; return what ended it."""
        try:
            member, self._member = self._member or self._make(), None
            self._member = member
            running = asyncio.create_task(member.run())
            try:
                stalled = await self._watch(running, member.heartbeat)
            finally:
                await self._end(running)
        except Exception as error:
            if self._stop.is_set():
                raise
            logger.exception("%s failed", self._name)
            return f"{type(error).__name__}: {error}"[:300]
        finally:
            self._member = None
        return stalled or "it ended unexpectedly"

    async def _watch(self, running: asyncio.Task[None], heartbeat: Heartbeat) -> str | None:
        """Wait until it ends or hangs; return what hangs.

        Clears its alarm once it has run well for a while.
        """
        detector = StallDetector(heartbeat, self._responds, self._look_seconds)
        looks = self._policy.proven_seconds / self._look_seconds
        while not running.done():
            await asyncio.wait([running], timeout=self._look_seconds)
            if running.done() or self._stop.is_set():
                break
            if (looks := looks - 1) <= 0:
                self._board.end(self._name, f"{self._name} runs again")
            activity = await detector.look()
            if activity is not None and not running.done():
                return await self._report(activity, heartbeat.patience_seconds)
        await asyncio.wait([running])
        if not running.cancelled():  # cancelled from within: an end like any other
            running.result()
        return None

    async def _report(self, activity: str, seconds: float) -> str:
        message = f"no progress for {seconds:.0f} s: {activity}"
        logger.error("%s hangs (%s)", self._name, message)
        await self._on_stall(self._name, message)
        return message

    async def _end(self, running: asyncio.Task[None]) -> None:
        """Cancel it if it still runs; one that ignores it is left behind."""
        if running.done():
            return
        running.cancel()
        _, late = await asyncio.wait([running], timeout=self._cancel_seconds)
        for task in late:
            logger.error("%s does not end and is left behind", self._name)
            self._left_behind.add(task)
            task.add_done_callback(self._forget)
        if not late and not running.cancelled():
            running.exception()  # retrieved: it was given up, and its end changes nothing

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._left_behind.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("%s, left behind, ended: %r", self._name, error)
