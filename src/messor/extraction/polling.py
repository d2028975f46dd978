"""Looking at a queue that several empty: one looks at a time, the sooner the more was found.

Those who wait for their turn hold no connection. While the queue is full each looks as soon as the one
before has taken something; while it is empty, or fills slowly, they rest between two looks, so that
little is asked and what comes is taken together. What is taken is left to whoever looks.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

# Between two looks of which the first found little, less than half of what could be taken. It grows
# slowly: what feeds the queue may just have begun, and a trickle is soon looked at twice a second.
SHORTEST_REST_SECONDS, LONGEST_REST_SECONDS = 0.1, 0.5
GROWTH = 1.1  # from one such look to the next


class PollTurn:
    """The right to look, until it is said what was found."""

    def __init__(self, gate: PollGate) -> None:
        self._gate = gate
        self._is_over = False

    def found(self, taken: int, limit: int) -> None:
        """So many were taken of as many as could have been: now another may look."""
        if not self._is_over:
            self._is_over = True
            self._gate.finish_turn(taken, limit)


class PollGate:
    """Turns, and the rest between them."""

    def __init__(self) -> None:
        self._one = asyncio.Lock()
        self.rest_seconds = 0.0  # before the next look

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[PollTurn]:
        """One's turn to look; a turn that ends without a word found nothing."""
        await self._one.acquire()
        turn = PollTurn(self)
        try:
            yield turn
        finally:
            turn.found(0, 1)

    async def rest(self, stop: asyncio.Event) -> None:
        """Before one looks; it may be cut short."""
        if self.rest_seconds:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), self.rest_seconds)

    def finish_turn(self, taken: int, limit: int) -> None:
        """End a turn."""
        if taken >= limit:
            self.rest_seconds = 0.0
        elif 2 * taken >= limit:
            self.rest_seconds = SHORTEST_REST_SECONDS
        else:
            rest = max(SHORTEST_REST_SECONDS, GROWTH * self.rest_seconds)
            self.rest_seconds = min(rest, LONGEST_REST_SECONDS)
        self._one.release()
