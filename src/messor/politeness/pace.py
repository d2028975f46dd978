"""Pace: when the next request of a lane may go, and proof that it may.

A permit is asked for before connecting and used on the ready connection, just before the request
is written. The next request is due `delay` after the last one was *written*; if its answer comes
within a moment, `delay` after the answer. The server cannot have seen the request later than it
answered, so jitter on the way never shortens the gap it sees.
"""

from __future__ import annotations

import asyncio
import random
from contextvars import ContextVar

from messor.core import clock
from messor.errors import LeaseLostError
from messor.politeness.lease import WorkerLease

# How much of the delay may be spent on waiting for the answer's head before counting from it.
ANSWER_SHARE = 0.05


# What a visit is about to ask for, in the words of whoever visits: the log of what was cut off needs it.
ABOUT: ContextVar[object] = ContextVar("about", default=None)


class Permit:
    """The right to send one request on one lane; used once, on a ready connection."""

    __slots__ = ("_pace", "about", "delay", "gap", "used_at", "written_at")

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self.used_at = 0.0
        self.written_at = 0.0
        self.gap = 0.0  # seconds since the lane's previous request
        self.delay = pace.delay  # the pause that was due
        self.about = ABOUT.get()

    def use(self) -> None:
        """Check the lease at the last moment; the caller writes the request right after."""
        now = clock.now()
        if self.used_at or now >= self._pace.lease.deadline:
            raise LeaseLostError("The right to send this request has run out.")
        if self._pace.lease.is_halted:
            raise LeaseLostError("All traffic to sites is halted.")
        self.used_at = now
        self.delay = self._pace.delay
        # The transport sends what was written at the end of this turn of the loop, so the next
        # turn is the earliest moment at which the request is surely out.
        asyncio.get_running_loop().call_soon(self._written)
        self._pace.started(self, now)

    def _written(self) -> None:
        self.written_at = clock.now()
        self._pace.written(self.written_at)

    def answered(self) -> None:
        """The answer's head has arrived."""
        self._pace.answered(clock.now())

    def missed(self) -> None:
        """Connecting failed: no request went out, and the next try keeps its distance all the same."""
        if not self.used_at:
            self._pace.missed(clock.now())

    def finished(self) -> None:
        """Whoever talked to the site on our behalf has stopped; when it began is not known."""
        self._pace.written(clock.now())


class Pace:
    """One lane's rhythm during a visit."""

    __slots__ = ("_jitter", "_last", "_stretch", "_written", "delay", "due", "lease", "unlogged")

    def __init__(
        self, delay: float, ready_in: float, lease: WorkerLease, jitter: float = 0.0
    ) -> None:
        self.delay = delay
        self._jitter = jitter  # how much of the delay may be added at random
        self._stretch = 1.0
        self.lease = lease
        self.due = clock.now() + ready_in
        self._written = 0.0
        self._last: float | None = None
        # Permits that were used, by when; each is taken out once its request is to be logged.
        self.unlogged: dict[float, Permit] = {}

    async def permit(self) -> Permit:
        """Wait until the lane is ready."""
        while (wait := self.due - clock.now()) > 0:  # noqa: ASYNC110 - it waits for a time
            await asyncio.sleep(wait)
        return Permit(self)

    @property
    def ready_in(self) -> float:
        """Seconds until the next request may go."""
        return max(self.due - clock.now(), 0.0)

    def started(self, permit: Permit, now: float) -> None:
        permit.gap = now - self._last if self._last is not None else 0.0
        self._last = now
        self.unlogged[now] = permit
        if self._jitter:
            self._stretch = 1.0 + self._jitter * random.random()  # noqa: S311 - a rhythm, not a secret
        self._put_off(now)

    def written(self, at: float) -> None:
        self._written = at
        self._put_off(at)

    def missed(self, at: float) -> None:
        self._put_off(at)

    def answered(self, at: float) -> None:
        self._put_off(min(at, self._written + self.delay * ANSWER_SHARE))

    def slow_down_to(self, delay: float) -> None:
        """A longer delay counts from the last request on, not only from the next."""
        if delay > self.delay:
            self.delay = delay
            if self._last is not None:
                self._put_off(max(self._last, self._written))

    def be_silent(self, seconds: float) -> None:
        """Retry-After, or a host that must be left alone."""
        self.due = max(self.due, clock.now() + seconds)

    def _put_off(self, start: float) -> None:
        self.due = max(self.due, start + self.delay * self._stretch)


PERMIT: ContextVar[Permit | None] = ContextVar("permit", default=None)
