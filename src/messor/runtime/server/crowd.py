"""The crowd: all connections, counted by address and in all.

Where there are too many, those that only wait are ended first, the oldest of the address that has
most of them: who holds connections open pushes out their own. A newcomer is refused only when
every connection is at work.
"""

from __future__ import annotations

from collections import Counter
from typing import Protocol

from messor.access.origin import network_of
from messor.runtime.server.limits import ServerLimits


class TrackedConnection(Protocol):
    """A connection, as far as the crowd is concerned."""

    peer: str | None

    def end(self) -> None:
        """Close it at once."""


class ConnectionTable:
    """Who is connected; `enter` and `leave` are called once each, in any order."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._networks: dict[TrackedConnection, str] = {}
        self._waiting: dict[
            str, dict[TrackedConnection, None]
        ] = {}  # in the order they began to wait
        self._counts: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._networks)

    def enter(self, guest: TrackedConnection) -> bool:
        """Whether there is room, or room could be made."""
        network = network_of(guest.peer)
        is_proxy = self._limits.is_proxy(guest.peer)
        if not is_proxy and self._counts[network] >= self._limits.by_address:
            if not self._end_oldest(network):
                return False
        elif len(self._networks) >= self._limits.connections and not self._end_oldest(
            self._most_waiting()
        ):
            return False
        self._networks[guest] = network
        self._counts[network] += 1
        self.waits(guest)
        return True

    def waits(self, guest: TrackedConnection) -> None:
        """It has nothing under way: it may be ended to make room."""
        network = self._networks.get(guest)
        if network is not None:
            self._waiting.setdefault(network, {}).setdefault(guest)

    def works(self, guest: TrackedConnection) -> None:
        """A request of it is being answered."""
        network = self._networks.get(guest)
        if network is not None:
            self._forget(network, guest)

    def leave(self, guest: TrackedConnection) -> None:
        network = self._networks.pop(guest, None)
        if network is None:
            return
        self._forget(network, guest)
        self._counts[network] -= 1
        if not self._counts[network]:
            del self._counts[network]

    def _forget(self, network: str, guest: TrackedConnection) -> None:
        waiting = self._waiting.get(network, {})
        waiting.pop(guest, None)
        if not waiting:
            self._waiting.pop(network, None)

    def _most_waiting(self) -> str:
        return max(self._waiting, key=lambda one: len(self._waiting[one]), default="")

    def _end_oldest(self, network: str) -> bool:
        guest = next(iter(self._waiting.get(network, ())), None)
        if guest is None:
            return False
        self.leave(guest)
        guest.end()
        return True
