"""Turns: one address after the other, whoever sends most."""

from __future__ import annotations

import asyncio

from messor.runtime.server import turns
from messor.runtime.server.turns import Turns


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_visitor_is_next_whatever_others_have_waiting() -> None:
    here, began = Turns(at_once=2, by_address=2), list[str]()

    async def request(network: str) -> None:
        turn = here.of(network)
        await turn.begin()
        began.append(network)
        await asyncio.sleep(0)
        turn.end()

    many = [asyncio.create_task(request("many")) for _ in range(50)]
    await settle()
    visitor = asyncio.create_task(request("visitor"))
    await asyncio.gather(visitor, *many)
    assert began.index("visitor") < 12
    assert len(began) == 51


async def test_an_address_has_a_share_and_a_pause_lets_others_go() -> None:
    here = Turns(at_once=4, by_address=1)
    first, second = here.of("a"), here.of("a")
    await first.begin()
    waiting = asyncio.create_task(second.begin())
    await asyncio.wait_for(here.of("b").begin(), 1)
    await settle()
    assert not waiting.done()
    first.pause()
    await asyncio.wait_for(waiting, 1)
    again = asyncio.create_task(first.begin())
    await settle()
    assert not again.done()
    second.end()
    second.end()
    await asyncio.wait_for(again, 1)


async def test_a_turn_ends_by_itself_and_is_not_begun_again() -> None:
    here = Turns(at_once=1)
    slow = here.of("a")
    await slow.begin()
    await asyncio.wait_for(here.of("b").begin(), 2 * turns.LONGEST_SECONDS)
    await asyncio.wait_for(slow.begin(), 0.1)


async def test_who_gives_up_waiting_takes_no_turn() -> None:
    here = Turns(at_once=1)
    first = here.of("a")
    await first.begin()
    gone = asyncio.create_task(here.of("b").begin())
    last = asyncio.create_task(here.of("c").begin())
    await settle()
    gone.cancel()
    await settle()
    first.end()
    await asyncio.wait_for(last, 0.1)
