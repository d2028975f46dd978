"""The database clock as seen by one process, so that all rows of a worker are timed alike.

A delayed statement would date an event later than it happened, and two requests a second apart
would look closer. So events are dated by the quickest recent query of the database's time. Nothing
is ever dated before it happened.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

# After this long a measurement is replaced by any other: clocks drift.
BELIEVED_SECONDS = 60.0
STEP = timedelta(seconds=5)  # a clock that differs by more was set


class DatabaseClock:
    """Converts local monotonic times to database time, from the first measurement on."""

    def __init__(self) -> None:
        self._measured_at = self._waited = float("inf")
        self._time = datetime.max.replace(tzinfo=UTC)

    def measure(self, sent_at: float, received_at: float, time: datetime) -> None:
        """Take a measurement: the database read `time` between two local times."""
        waited = received_at - sent_at
        is_old = received_at - self._measured_at > BELIEVED_SECONDS
        if waited <= self._waited or is_old or self._has_stepped(sent_at, received_at, time):
            self._measured_at, self._waited, self._time = sent_at, waited, time

    def _has_stepped(self, sent_at: float, received_at: float, time: datetime) -> bool:
        """Whether a measurement cannot be explained by network delays."""
        earliest, latest = self.at(sent_at - self._waited), self.at(received_at)
        return not earliest - STEP <= time <= latest + STEP

    def at(self, moment: float) -> datetime:
        """The database time at a local time, or slightly later."""
        return self._time + timedelta(seconds=moment - self._measured_at)
