"""The seen filter: which URLs the frontier is known to hold.

Exact: it answers "known" only for URLs it was told of after their commit. What it forgot or
never learned is asked of the database again, which costs time and never correctness.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

NONE_KNOWN: AbstractSet[bytes] = frozenset()


class SeenFilter:
    """URL hashes by host, the least recently used host forgotten first."""

    def __init__(self, capacity: int = 500_000) -> None:
        self._capacity = capacity
        self._size = 0
        self._hosts: OrderedDict[str, set[bytes]] = OrderedDict()

    def of(self, host: str) -> AbstractSet[bytes]:
        """The hashes known of a host; read it, do not add to it."""
        known = self._hosts.get(host)
        if known is None:
            return NONE_KNOWN
        self._hosts.move_to_end(host)
        return known

    def learn(self, host: str, hashes: Iterable[bytes]) -> None:
        """Remember URLs whose rows are committed."""
        known = self._hosts.setdefault(host, set())
        self._hosts.move_to_end(host)
        before = len(known)
        known.update(hashes)
        self._size += len(known) - before
        while self._size > self._capacity and len(self._hosts) > 1:
            _, forgotten = self._hosts.popitem(last=False)
            self._size -= len(forgotten)
        if self._size > self._capacity:
            known.clear()
            self._size = 0

    def __len__(self) -> int:
        return self._size
