"""Values that are kept fresh: fetched when old, once for all, and costly ones behind the scenes."""

from __future__ import annotations

import asyncio

from messor.core.fresh import Fresh
from tests.crawling import until


class Source:
    """Counts how often it was asked; answers when it is let."""

    def __init__(self) -> None:
        self.asked = 0
        self.is_open = asyncio.Event()
        self.is_open.set()

    async def fetch(self) -> int:
        self.asked += 1
        number = self.asked
        await self.is_open.wait()
        return number


async def test_it_is_fetched_once_for_all() -> None:
    source = Source()
    fresh = Fresh(3_600.0, source.fetch)
    assert await asyncio.gather(*(fresh.get() for _ in range(5))) == [1] * 5
    fresh.spoil()
    assert await asyncio.gather(*(fresh.get() for _ in range(5))) == [2] * 5


async def test_what_is_cheap_is_waited_for() -> None:
    source = Source()
    fresh = Fresh(0.0, source.fetch)
    assert [await fresh.get() for _ in range(3)] == [1, 2, 3]


async def test_nobody_waits_for_what_is_costly() -> None:
    source = Source()
    fresh = Fresh(0.0, source.fetch, is_costly=lambda _: True)
    assert await fresh.get() == 1
    source.is_open.clear()
    fresh.spoil()
    assert [await fresh.get() for _ in range(3)] == [1, 1, 1]
    await until(lambda: source.asked == 2)
    source.is_open.set()
    await until(lambda: source.asked == 2)
    while await fresh.get() == 1:  # noqa: ASYNC110 - the errand has no event of ours
        await asyncio.sleep(0)
    assert source.asked >= 2


async def test_a_failure_behind_the_scenes_leaves_what_is_known() -> None:
    asked = []

    async def fetch() -> int:
        asked.append(1)
        if len(asked) == 2:
            raise OSError("away")
        return len(asked)

    fresh = Fresh(0.0, fetch, is_costly=lambda _: True)
    assert await fresh.get() == 1
    fresh.spoil()
    assert await fresh.get() == 1
    await until(lambda: len(asked) == 2)
    fresh.spoil()
    while await fresh.get() == 1:  # noqa: ASYNC110 - the errand has no event of ours
        await asyncio.sleep(0)
    assert len(asked) >= 3
