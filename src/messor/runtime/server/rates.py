"""How often one caller may ask, counted in this process: a look at a page writes nothing.

Evenly refilled, as `access.ratelimits` does it across processes: a key may spend `limit.count` at
once and gets them back over `limit.window`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from messor.access.errors import ThrottledError
from messor.access.ratelimits import Limit
from messor.errors import UnavailableError

MOST_KEYS = 20_000
RETRY_SECONDS = 5


class Rates:
    """One limit, for many keys."""

    def __init__(
        self,
        limit: Limit,
        *,
        clock: Callable[[], float] = time.monotonic,
        most_keys: int = MOST_KEYS,
    ) -> None:
        self._window = limit.window.total_seconds()
        self._each = self._window / limit.count
        self._clock = clock
        self._most_keys = most_keys
        self._spent: dict[str, float] = {}  # until when; oldest use first

    def take(self, key: str) -> None:
        """Raises ThrottledError where it is too often; that costs nothing."""
        now = self._clock()
        spent = max(self._spent.get(key, now), now) + self._each
        if spent - now > self._window + 1e-9:
            raise ThrottledError("There were too many requests.", spent - now - self._window)
        self._spent.pop(key, None)
        self._spent[key] = spent
        if len(self._spent) > self._most_keys:
            self._forget(now)

    def _forget(self, now: float) -> None:
        """Those who may ask for everything again; failing that, who asked longest ago."""
        self._spent = {key: spent for key, spent in self._spent.items() if spent > now}
        while len(self._spent) > self._most_keys // 2:
            del self._spent[next(iter(self._spent))]


class Streams:
    """Answers that stay open: so many in all, so many for one caller."""

    def __init__(self, in_all: int, for_one: int) -> None:
        self._in_all = in_all
        self._for_one = for_one
        self._open: Counter[str] = Counter()

    def require_room(self, key: str) -> None:
        """Raise where a further one would be too many."""
        if self._open[key] >= self._for_one:
            raise ThrottledError(
                f"You have {self._for_one} streams open here. Close one first.", RETRY_SECONDS
            )
        if self._open.total() >= self._in_all:
            raise UnavailableError("Too many streams are open here. Try again in a moment.")

    @contextmanager
    def holding(self, key: str) -> Iterator[None]:
        """As long as a stream is open."""
        self._open[key] += 1
        try:
            yield
        finally:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]
