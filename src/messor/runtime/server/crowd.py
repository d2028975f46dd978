"""All connections, counted by address and in total.

When there are too many, idle ones are closed first, the oldest of the address that has most of
them: whoever holds connections open evicts their own. Next are those whose request or response is
stalled by the client. A new connection is refused only if every connection is busy.
"""

from __future__ import annotations

from collections import Counter
from typing import Protocol

from messor.access.origin import network_of
from messor.runtime.server.limits import ServerLimits


class TrackedConnection(Protocol):
    """A connection, as the table sees it."""

    peer: str | None

    def end(self) -> None:
        """Close it at once."""


class _Idlers:
    """Connections by address, in the order in which they became idle."""

    def __init__(self) -> None:
        self._guests: dict[str, dict[TrackedConnection, None]] = {}

    def add(self, network: str, guest: TrackedConnection) -> None:
        self._guests.setdefault(network, {}).setdefault(guest)

    def drop(self, network: str, guest: TrackedConnection) -> None:
        guests = self._guests.get(network, {})
        guests.pop(guest, None)
        if not guests:
            self._guests.pop(network, None)

    def largest(self) -> str:
        return max(self._guests, key=lambda one: len(self._guests[one]), default="")

    def oldest(self, network: str) -> TrackedConnection | None:
        return next(iter(self._guests.get(network, ())), None)


class ConnectionTable:
    """All connections; `enter` and `leave` are called once each, in any order."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._networks: dict[TrackedConnection, str] = {}
        self._waiting = _Idlers()
        self._stalling = _Idlers()
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
        elif len(self._networks) >= self._limits.connections and not self._end_oldest():
            return False
        self._networks[guest] = network
        self._counts[network] += 1
        self.waits(guest)
        return True

    def waits(self, guest: TrackedConnection) -> None:
        """Mark it idle: it may be closed to make room."""
        self._move(guest, self._waiting)

    def stalls(self, guest: TrackedConnection) -> None:
        """Mark it stalled: the client has to send the rest of a request, or read."""
        self._move(guest, self._stalling)

    def works(self, guest: TrackedConnection) -> None:
        """Mark it busy: a request is being answered."""
        self._move(guest, None)

    def leave(self, guest: TrackedConnection) -> None:
        network = self._networks.pop(guest, None)
        if network is None:
            return
        self._waiting.drop(network, guest)
        self._stalling.drop(network, guest)
        self._counts[network] -= 1
        if not self._counts[network]:
            del self._counts[network]

    def _move(self, guest: TrackedConnection, into: _Idlers | None) -> None:
        network = self._networks.get(guest)
        if network is None:
            return
        for idlers in (self._waiting, self._stalling):
            if idlers is into:
                idlers.add(network, guest)
            else:
                idlers.drop(network, guest)

    def _end_oldest(self, network: str | None = None) -> bool:
        """Close the oldest connection of an address, or of the one that has most."""
        for idlers in (self._waiting, self._stalling):
            guest = idlers.oldest(idlers.largest() if network is None else network)
            if guest is not None:
                self.leave(guest)
                guest.end()
                return True
        return False
