"""The watchdog of one component: restarts it whatever ended it, while the others go on.

The delay grows while it keeps failing soon. Each failure is logged and raises an alarm until the
component has run well for a while. The watchdog never gives up.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from messor.core.logs import room_logger
from messor.jobs.poller import wait
from messor.ledger.alarms import AlarmBoard
from messor.runtime.process_group import Component
from messor.runtime.supervisor import RestartPolicy

logger = room_logger(__name__)


class Watchdog:
    """Runs a component, and a replacement after each failure, until stopped."""

    def __init__(
        self,
        name: str,
        make: Callable[[], Component],
        board: AlarmBoard,
        *,
        first: Component | None = None,
        policy: RestartPolicy | None = None,
    ) -> None:
        self._name = name
        self._make = make
        self._board = board
        self._policy = policy or RestartPolicy()
        self._stop = asyncio.Event()
        # Created here, so that invalid settings are reported at start.
        self._member: Component | None = first or make()
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
                await self._watch(running)
            finally:
                running.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await running
        except Exception as error:
            if self._stop.is_set():
                raise
            logger.exception("%s failed", self._name)
            return f"{type(error).__name__}: {error}"[:300]
        finally:
            self._member = None
        return "it ended unexpectedly"

    async def _watch(self, running: asyncio.Task[None]) -> None:
        """Wait until it ends; clear its alarm once it has run well for a while."""
        await asyncio.wait([running], timeout=self._policy.proven_seconds)
        if not running.done():
            self._board.end(self._name, f"{self._name} runs again")
        await asyncio.wait([running])
        if not running.cancelled():  # cancelled from within: an end like any other
            running.result()
