"""All connections, counted by address and in total.

When there are too many, idle ones are closed first, the oldest of the address that has most of
them: whoever holds connections open evicts their own. Next are those whose request or response is
stalled by the client, and last busy ones. A new connection never evicts that of an address which
has fewer: it is refused instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Protocol

from messor.access.origin import network_of
from messor.runtime.server.limits import ServerLimits


class TrackedConnection(Protocol):
    """A connection, as the table sees it."""

    peer: str | None

    def end(self) -> None:
        """Close it at once."""


class _Guests:
    """Connections in one state by address, in the order in which they got into it."""

    def __init__(self) -> None:
        self._guests: dict[str, dict[TrackedConnection, None]] = {}

    def add(self, network: str, guest: TrackedConnection) -> None:
        self._guests.setdefault(network, {}).setdefault(guest)

    def drop(self, network: str, guest: TrackedConnection) -> None:
        guests = self._guests.get(network, {})
        guests.pop(guest, None)
        if not guests:
            self._guests.pop(network, None)

    def largest(self, may_lose: Callable[[str], bool]) -> str:
        return max(
            filter(may_lose, self._guests), key=lambda one: len(self._guests[one]), default=""
        )

    def oldest(self, network: str) -> TrackedConnection | None:
        return next(iter(self._guests.get(network, ())), None)


class ConnectionTable:
    """All connections; `enter` and `leave` are called once each, in any order."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._networks: dict[TrackedConnection, str] = {}
        self._waiting = _Guests()
        self._stalling = _Guests()
        self._working = _Guests()
        self._counts: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._networks)

    def enter(self, guest: TrackedConnection) -> bool:
        """Whether there is room, or room could be made."""
        network = network_of(guest.peer)
        is_proxy = self._limits.is_proxy(guest.peer)
        if not is_proxy and self._counts[network] >= self._limits.by_address:
            if not self._end_one(network, (self._waiting, self._stalling)):
                return False
        elif self._is_full and not self._make_room(
            network, 0 if is_proxy else self._counts[network]
        ):
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
        self._move(guest, self._working)

    def leave(self, guest: TrackedConnection) -> None:
        network = self._networks.pop(guest, None)
        if network is None:
            return
        for kind in self._kinds:
            kind.drop(network, guest)
        self._counts[network] -= 1
        if not self._counts[network]:
            del self._counts[network]

    def _move(self, guest: TrackedConnection, into: _Guests) -> None:
        network = self._networks.get(guest)
        if network is None:
            return
        for kind in self._kinds:
            if kind is into:
                kind.add(network, guest)
            else:
                kind.drop(network, guest)

    @property
    def _is_full(self) -> bool:
        return len(self._networks) >= self._limits.connections

    @property
    def _kinds(self) -> tuple[_Guests, ...]:
        return self._waiting, self._stalling, self._working

    def _make_room(self, network: str, held: int) -> bool:
        """Close a connection of the address that has most, never one of those that have fewer.

        Whoever has a single one, perhaps about to send its request, comes after those who have
        several, at work or not.
        """
        several = max(held, 1)

        def may_lose(other: str, least: int) -> bool:
            return other == network or self._counts[other] > least

        def may_lose_work(other: str) -> bool:
            guest = self._working.oldest(other)
            is_proxy = guest is None or self._limits.is_proxy(guest.peer)
            return self._counts[other] > several and not is_proxy

        idle = self._waiting, self._stalling
        order: list[tuple[_Guests, Callable[[str], bool]]] = [
            *((kind, partial(may_lose, least=several)) for kind in idle),
            (self._working, may_lose_work),
            *((kind, partial(may_lose, least=held)) for kind in idle),
        ]
        return any(self._end_one(kind.largest(may), (kind,)) for kind, may in order)

    def _end_one(self, network: str, kinds: tuple[_Guests, ...]) -> bool:
        """Close the oldest connection of an address."""
        for kind in kinds:
            guest = kind.oldest(network)
            if guest is not None:
                self.leave(guest)
                guest.end()
                return True
        return False
