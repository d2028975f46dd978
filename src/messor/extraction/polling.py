"""Polling of a queue shared by several workers: one polls at a time, sooner if more was found.

Waiting workers hold no connection. While the queue is full, each polls as soon as the previous one
has claimed rows; while it is empty or fills slowly, they pause between polls, so that the load is
low and rows are claimed in larger batches.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

# Pause after a poll that found less than half of the limit. It grows slowly: the queue may just
# have started to fill, and a trickle is soon polled twice a second.
SHORTEST_REST_SECONDS, LONGEST_REST_SECONDS = 0.1, 0.5
GROWTH = 1.1  # from one such poll to the next


class PollTurn:
    """The right to poll, until the result is reported."""

    def __init__(self, gate: PollGate) -> None:
        self._gate = gate
        self._is_over = False

    def found(self, taken: int, limit: int) -> None:
        """Report rows claimed; let the next poller run."""
        if not self._is_over:
            self._is_over = True
            self._gate.finish_turn(taken, limit)


class PollGate:
    """Turns of pollers, and the pauses between them."""

    def __init__(self) -> None:
        self._one = asyncio.Lock()
        self.rest_seconds = 0.0  # before the next poll

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[PollTurn]:
        """Wait for the turn to poll; a turn that ends without a report found nothing."""
        await self._one.acquire()
        turn = PollTurn(self)
        try:
            yield turn
        finally:
            turn.found(0, 1)

    async def rest(self, stop: asyncio.Event) -> None:
        """Pause before polling; `stop` cuts it short."""
        if self.rest_seconds:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), self.rest_seconds)

    def finish_turn(self, taken: int, limit: int) -> None:
        """End a turn and set the next pause."""
        if taken >= limit:
            self.rest_seconds = 0.0
        elif 2 * taken >= limit:
            self.rest_seconds = SHORTEST_REST_SECONDS
        else:
            rest = max(SHORTEST_REST_SECONDS, GROWTH * self.rest_seconds)
            self.rest_seconds = min(rest, LONGEST_REST_SECONDS)
        self._one.release()
