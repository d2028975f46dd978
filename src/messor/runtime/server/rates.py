"""Request rates per client, counted in this process, so that viewing a page writes nothing.

Evenly refilled, as `access.ratelimits` does across processes: a key may spend `limit.count` at
once and regains them over `limit.window`.
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
        """Raise ThrottledError above the limit; a refused request costs nothing."""
        now = self._clock()
        spent = max(self._spent.get(key, now), now) + self._each
        if spent - now > self._window + 1e-9:
            raise ThrottledError("Too many requests.", spent - now - self._window)
        self._spent.pop(key, None)
        self._spent[key] = spent
        if len(self._spent) > self._most_keys:
            self._forget(now)

    def _forget(self, now: float) -> None:
        """Forget keys with a full allowance; failing that, the least recently used."""
        self._spent = {key: spent for key, spent in self._spent.items() if spent > now}
        while len(self._spent) > self._most_keys // 2:
            del self._spent[next(iter(self._spent))]


class Streams:
    """Open streams: limited in total, and per client."""

    def __init__(self, in_all: int, for_one: int) -> None:
        self._in_all = in_all
        self._for_one = for_one
        self._open: Counter[str] = Counter()

    def require_room(self, key: str) -> None:
        """Raise if one more would be too many."""
        if self._open[key] >= self._for_one:
            raise ThrottledError(
                f"You have {self._for_one} streams open. Close one first.", RETRY_SECONDS
            )
        if self._open.total() >= self._in_all:
            raise UnavailableError("Too many streams are open. Try again in a moment.")

    @contextmanager
    def holding(self, key: str) -> Iterator[None]:
        """Count a stream while it is open."""
        self._open[key] += 1
        try:
            yield
        finally:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]
