"""Watches the database's clock: detects and reports a step, and corrects waits.

The clock is compared with this process's monotonic clock. Its latest reading is stored as well, so
that a step back is detected even if no process ran when it happened.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from messor.core import clock
from messor.core.heartbeat import Heartbeat
from messor.core.logs import room_logger
from messor.jobs.poller import wait
from messor.ledger.alarms import CLOCK, AlarmBoard
from messor.politeness import clock_steps
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database

logger = room_logger(__name__)

LOOK_SECONDS = 1.0
MIN_STEP = timedelta(seconds=5)  # less is harmless, and may be a slow response
REPORT_SECONDS = 600.0  # how long a step is reported

READ = """
WITH noted AS (
  INSERT INTO messor.clock_watch (seen_at) VALUES (messor.clock())
  ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at
   WHERE clock_watch.seen_at < excluded.seen_at - interval '2 seconds'
)
SELECT messor.clock() AS now, (SELECT max(seen_at) FROM messor.clock_watch) AS seen
"""


@dataclass(frozen=True, slots=True)
class ClockReading:
    """The database's time between two moments of the monotonic clock."""

    asked_at: float
    answered_at: float
    time: datetime

    def step_to(self, later: ClockReading) -> timedelta:
        """The step since then; zero where slow responses explain it."""
        passed_least = later.asked_at - self.answered_at
        passed_most = later.answered_at - self.asked_at
        passed = (later.time - self.time).total_seconds()
        if passed > passed_most:
            return timedelta(seconds=passed - passed_most)
        return timedelta(seconds=min(passed - passed_least, 0.0))


class ClockWatch:
    """Polls as long as it runs; any number may, in any process."""

    def __init__(self, database: Database, board: AlarmBoard, *, worker_lease: float) -> None:
        self.database = database
        self._board = board
        self._worker_lease = timedelta(seconds=worker_lease)
        self._last: ClockReading | None = None
        self._reported_until: float | None = None
        self._stop = asyncio.Event()
        self.heartbeat = Heartbeat()

    def stop(self) -> None:
        self._stop.set()

    async def run(self) -> None:
        while not self._stop.is_set():
            self.heartbeat.beat("reading the clock")
            with contextlib.suppress(*LOST_CONNECTION, *TRY_AGAIN):  # polled again soon
                await self.look()
            await wait(self._stop, LOOK_SECONDS)

    async def look(self) -> None:
        """Read the clock, and correct what a step since the last poll made wrong."""
        asked_at = clock.now()
        row = await self.database.fetchrow(READ)
        assert row is not None
        reading = ClockReading(asked_at, clock.now(), row["now"])
        step = self._last.step_to(reading) if self._last is not None else timedelta()
        if step > MIN_STEP:
            await clock_steps.move_forward(self.database, step, reading.time - step)
        elif row["seen"] is not None and row["seen"] > reading.time + MIN_STEP:
            step = await self._move_back(step)
        if abs(step) > MIN_STEP:
            self._report(step, reading.time)
        self._last = reading  # only now: what could not be corrected is detected again
        self._fall_silent()

    async def _move_back(self, measured: timedelta) -> timedelta:
        """Correct a step back, unless another process does; returns the step."""
        known = -measured if measured < -MIN_STEP else None
        back = await clock_steps.move_back(self.database, known, MIN_STEP, self._worker_lease)
        return measured if back is None else -back

    def _report(self, step: timedelta, now: datetime) -> None:
        seconds = abs(step.total_seconds())
        way = "ahead" if step > timedelta() else "back"
        message = (
            f"The database's clock went {way} by {seconds:,.0f} s at {now:%Y-%m-%d %H:%M:%S}. "
            "Waits were adjusted. Check the time service (NTP) of its machine."
        )
        if self._reported_until is not None:  # the board logs the first only
            logger.warning("%s: %s", CLOCK, message)
        self._board.sound(CLOCK, message)
        self._reported_until = clock.now() + REPORT_SECONDS

    def _fall_silent(self) -> None:
        if self._reported_until is not None and clock.now() > self._reported_until:
            self._reported_until = None
            self._board.end(CLOCK, "The database's clock has been steady since.")
