"""Turns: which of the waiting requests is worked on next, one address after the other.

One process answers everybody, so whoever sends hundreds of requests at once would otherwise be
ahead of all others. A turn ends when the response begins, while a body is awaited, and at the
latest after a quarter of a second: a request that takes longer waits for the database, not for this
process.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque

AT_ONCE = 8
AT_ONCE_BY_ADDRESS = 4
LONGEST_SECONDS = 0.25


class Turn:
    """One request's turn; ending it twice is harmless."""

    def __init__(self, turns: Turns, network: str) -> None:
        self._turns = turns
        self._network = network
        self._timer: asyncio.TimerHandle | None = None
        self._is_over = False

    async def begin(self) -> None:
        """Wait for it; once it is over for good, nothing is waited for."""
        if self._timer is None and not self._is_over:
            await self._turns.wait(self._network)
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(LONGEST_SECONDS, self.end)

    def pause(self) -> None:
        """Let others go first until it begins again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            # Not at once: many quick requests would pass in one round of the event loop, in which
            # a request that waits for the database advances by one step.
            asyncio.get_running_loop().call_soon(self._turns.free, self._network)

    def end(self) -> None:
        self._is_over = True
        self.pause()


class Turns:
    """All turns of a server."""

    def __init__(self, at_once: int = AT_ONCE, by_address: int = AT_ONCE_BY_ADDRESS) -> None:
        self._left = at_once
        self._by_address = by_address
        self._taken: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    def of(self, network: str) -> Turn:
        return Turn(self, network)

    async def wait(self, network: str) -> None:
        """Return when a request of this address may be worked on; `free` ends that."""
        if self._is_free(network):
            self._take(network)
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(network, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._forget(network, turn)
            else:  # it had just begun
                self.free(network)
            raise

    def free(self, network: str) -> None:
        """Give a turn back, to the address that has waited longest for one."""
        self._left += 1
        self._taken[network] -= 1
        if not self._taken[network]:
            del self._taken[network]
        for other, queue in self._waiting.items():
            if self._is_free(other):
                self._take(other)
                turn = queue.popleft()
                self._waiting.move_to_end(other)
                if not queue:
                    del self._waiting[other]
                turn.set_result(None)
                return

    def _is_free(self, network: str) -> bool:
        return self._left > 0 and self._taken[network] < self._by_address

    def _take(self, network: str) -> None:
        self._left -= 1
        self._taken[network] += 1

    def _forget(self, network: str, turn: asyncio.Future[None]) -> None:
        self._waiting[network].remove(turn)
        if not self._waiting[network]:
            del self._waiting[network]
