"""Pace: when a lane's next request may be sent, and the permit for it.

A permit is obtained before connecting and used on the ready connection, just before the request is
written. The next request is due `delay` after the last one was *written*, or, if the response
comes promptly, `delay` after the response. The server cannot have seen the request after it
responded, so network jitter never shortens the gap it sees.
"""

from __future__ import annotations

import asyncio
import random
from contextvars import ContextVar

from messor.core import clock
from messor.errors import LeaseLostError
from messor.politeness.lease import WorkerLease

# Maximum share of the delay spent waiting for the response head before counting from it.
ANSWER_SHARE = 0.05


# The task in progress, opaque here: the log of cut-off requests needs it.
ABOUT: ContextVar[object] = ContextVar("about", default=None)


class Permit:
    """The right to send one request on one lane; used once, on a ready connection."""

    __slots__ = ("_pace", "about", "delay", "gap", "signed_by", "used_at", "written_at")

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self.used_at = 0.0
        self.written_at = 0.0
        self.gap = 0.0  # seconds since the lane's previous request
        self.delay = pace.delay  # the delay that applied
        self.about = ABOUT.get()
        self.signed_by: int | None = None  # the identity key that signed the request

    def use(self) -> None:
        """Check the lease at the last moment; the caller writes the request right after."""
        now = clock.now()
        if self.used_at or now >= self._pace.lease.deadline:
            raise LeaseLostError("The permit to send this request has expired.")
        if self._pace.lease.is_halted:
            raise LeaseLostError("All traffic to sites is halted.")
        self.used_at = now
        self.delay = self._pace.delay
        # The transport sends what was written at the end of this turn of the event loop, so by the
        # next turn the request has certainly been sent.
        asyncio.get_running_loop().call_soon(self._written)
        self._pace.started(self, now)

    def _written(self) -> None:
        self.written_at = clock.now()
        self._pace.written(self.written_at)

    def answered(self) -> None:
        """Note that the response head has arrived."""
        self._pace.answered(clock.now())

    def missed(self) -> None:
        """Note that connecting failed: nothing was sent, but the next attempt still waits the delay."""
        if not self.used_at:
            self._pace.missed(clock.now())

    def finished(self) -> None:
        """Note that a provider finished; when it contacted the site is unknown."""
        self._pace.written(clock.now())


class Pace:
    """One lane's pace during a visit."""

    __slots__ = (
        "_jitter",
        "_jitter_factor",
        "_last",
        "_written",
        "delay",
        "due",
        "lease",
        "unlogged",
    )

    def __init__(
        self, delay: float, ready_in: float, lease: WorkerLease, jitter: float = 0.0
    ) -> None:
        self.delay = delay
        self._jitter = jitter  # maximum random share added to the delay
        self._jitter_factor = 1.0
        self.lease = lease
        self.due = clock.now() + ready_in
        self._written = 0.0
        self._last: float | None = None
        # Used permits by time; each is removed once its request is queued for logging.
        self.unlogged: dict[float, Permit] = {}

    async def permit(self) -> Permit:
        """Wait until the lane is ready."""
        while (wait := self.due - clock.now()) > 0:  # noqa: ASYNC110 - it waits for a time
            await asyncio.sleep(wait)
        return Permit(self)

    @property
    def ready_in(self) -> float:
        """Seconds until the next request may be sent."""
        return max(self.due - clock.now(), 0.0)

    def started(self, permit: Permit, now: float) -> None:
        permit.gap = now - self._last if self._last is not None else 0.0
        self._last = now
        self.unlogged[now] = permit
        if self._jitter:
            self._jitter_factor = 1.0 + self._jitter * random.random()  # noqa: S311 - jitter, not a secret
        self._postpone(now)

    def written(self, at: float) -> None:
        self._written = at
        self._postpone(at)

    def missed(self, at: float) -> None:
        self._postpone(at)

    def answered(self, at: float) -> None:
        self._postpone(min(at, self._written + self.delay * ANSWER_SHARE))

    def slow_down_to(self, delay: float) -> None:
        """Raise the delay, counted from the last request."""
        if delay > self.delay:
            self.delay = delay
            if self._last is not None:
                self._postpone(max(self._last, self._written))

    def be_silent(self, seconds: float) -> None:
        """Send nothing for this long."""
        self.due = max(self.due, clock.now() + seconds)

    def _postpone(self, start: float) -> None:
        self.due = max(self.due, start + self.delay * self._jitter_factor)


PERMIT: ContextVar[Permit | None] = ContextVar("permit", default=None)
