"""The database's clock as one process knows it: all rows of a worker are timed alike.

A statement that waits on its way would date what happened later than it did, and two requests a
second apart would look closer. So a moment here is dated by the quickest answer of late to the
question what time it is there. Never is anything dated before it happened.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

# After so long an answer is replaced by any other: clocks drift apart.
BELIEVED_SECONDS = 60.0
STEP = timedelta(seconds=5)  # a clock that differs by more was set


class DatabaseClock:
    """What time it is for the database at a moment of ours; known from the first answer on."""

    def __init__(self) -> None:
        self._asked_at = self._waited = float("inf")
        self._time = datetime.max.replace(tzinfo=UTC)

    def hear(self, asked_at: float, answered_at: float, time: datetime) -> None:
        """It was this time there between two moments of ours, as far as we know at the first."""
        waited = answered_at - asked_at
        is_old = answered_at - self._asked_at > BELIEVED_SECONDS
        if waited <= self._waited or is_old or self._has_stepped(asked_at, answered_at, time):
            self._asked_at, self._waited, self._time = asked_at, waited, time

    def _has_stepped(self, asked_at: float, answered_at: float, time: datetime) -> bool:
        """Whether an answer cannot be explained by how long it and the one believed took."""
        earliest, latest = self.at(asked_at - self._waited), self.at(answered_at)
        return not earliest - STEP <= time <= latest + STEP

    def at(self, moment: float) -> datetime:
        """The time there at a moment of ours, or a little later."""
        return self._time + timedelta(seconds=moment - self._asked_at)
