"""Looking at a queue in turns: one at a time, seldom at an empty one, at once at a full one."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from messor.extraction.polling import LONGEST_REST_SECONDS, SHORTEST_REST_SECONDS, PollGate


async def rests_after(looking: PollGate, *finds: int) -> list[float]:
    """The rest after each of some looks, of which each could have taken four."""
    rests = []
    for taken in finds:
        async with looking.turn() as turn:
            turn.found(taken, 4)
        rests.append(looking.rest_seconds)
    return rests


async def test_while_one_looks_the_others_wait_for_what_it_finds() -> None:
    looking = PollGate()
    async with looking.turn() as turn:
        waiting = asyncio.create_task(asyncio.wait_for(_one_turn(looking), 60))
        await asyncio.sleep(0)
        assert not waiting.done()
        turn.found(4, 4)
        await waiting  # though the first one is still about what it took


async def test_all_take_from_a_full_queue_at_once() -> None:
    looking, together = PollGate(), asyncio.Barrier(3)

    async def work() -> None:
        async with looking.turn() as turn:
            turn.found(4, 4)
            await together.wait()

    async with asyncio.timeout(60):
        await asyncio.gather(work(), work(), work())
    assert looking.rest_seconds == 0


async def test_the_less_is_found_the_longer_is_the_rest() -> None:
    looking = PollGate()
    rests = await rests_after(looking, *[0, 1, 0] * 10)
    assert rests[0] == SHORTEST_REST_SECONDS
    assert all(a <= b for a, b in pairwise(rests))
    assert rests[-1] == LONGEST_REST_SECONDS
    assert await rests_after(looking, 2, 4, 0) == [SHORTEST_REST_SECONDS, 0, SHORTEST_REST_SECONDS]


async def test_a_look_that_fails_gives_the_turn_away_and_counts_as_one_at_nothing() -> None:
    looking = PollGate()
    with pytest.raises(OSError, match="no server"):
        async with looking.turn():
            raise OSError("no server")
    assert looking.rest_seconds == SHORTEST_REST_SECONDS
    async with asyncio.timeout(60):
        await _one_turn(looking)


async def test_what_is_found_is_said_once() -> None:
    looking = PollGate()
    async with looking.turn() as turn:
        turn.found(4, 4)
        turn.found(0, 4)
    assert looking.rest_seconds == 0


async def test_a_rest_ends_when_all_is_to_end() -> None:
    looking, stop = PollGate(), asyncio.Event()
    looking.rest_seconds = 3600.0
    resting = asyncio.create_task(looking.rest(stop))
    await asyncio.sleep(0)
    assert not resting.done()
    stop.set()
    async with asyncio.timeout(60):
        await resting


async def _one_turn(looking: PollGate) -> None:
    async with looking.turn() as turn:
        turn.found(0, 1)
