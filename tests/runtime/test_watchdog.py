"""Each component has its own watchdog: one that fails is started again, and the others go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from messor.ledger import alarms
from messor.ledger.alarms import AlarmBoard, AlarmKeeper
from messor.runtime.process_group import ProcessGroup
from messor.runtime.supervisor import RestartPolicy
from messor.runtime.watchdog import Watchdog
from messor.store.database import Database
from tests.crawling import eventually, until

QUICK = RestartPolicy(first_pause_seconds=0.01, longest_pause_seconds=0.05, proven_seconds=0.3)


class Component:
    """Runs until stopped, or fails at once."""

    def __init__(self, fault: BaseException | None = None, *, ends: bool = False) -> None:
        self._fault = fault
        self._stop = asyncio.Event()
        if ends:
            self._stop.set()
        self.is_running = False

    def stop(self) -> None:
        self._stop.set()

    async def run(self) -> None:
        if self._fault is not None:
            raise self._fault
        self.is_running = True
        await self._stop.wait()
        self.is_running = False


def failing(
    times: int, made: list[Component], fault: BaseException | None
) -> Callable[[], Component]:
    """A component that fails so many times, or ends by itself, before it runs."""

    def make() -> Component:
        wrong = len(made) < times
        made.append(Component(fault if wrong else None, ends=wrong and fault is None))
        return made[-1]

    return make


CUT_OFF = asyncio.CancelledError("cut off")  # as when something within it was cancelled


@pytest.mark.parametrize("fault", [RuntimeError("a fault"), OSError(28, "full"), CUT_OFF, None])
async def test_one_that_fails_starts_again_and_the_others_go_on(
    fault: BaseException | None,
) -> None:
    board, frail, sound = AlarmBoard(), list[Component](), list[Component]()
    first = Watchdog("frail", failing(4, frail, fault), board, policy=QUICK)
    other = Watchdog("sound", failing(0, sound, None), board, policy=QUICK)
    company = ProcessGroup([first, other])
    running = asyncio.create_task(company.run())
    await until(lambda: len(frail) == 5 and frail[-1].is_running)
    assert sound[0].is_running
    (alarm,) = board.standing
    assert alarm.name == "frail"
    assert "frail failed (" in alarm.said
    told = str(fault) if isinstance(fault, Exception) else "ended unexpectedly"
    assert told in alarm.said
    await until(lambda: not board.standing)  # it has run well for a while
    company.stop()
    await asyncio.wait_for(running, 5)
    assert len(sound) == 1
    assert not company.was_cut_short


async def test_one_that_never_comes_back_is_never_silent() -> None:
    board, made = AlarmBoard(), list[Component]()
    dog = Watchdog("lost", failing(10**6, made, ValueError("no")), board, policy=QUICK)
    running = asyncio.create_task(dog.run())
    await until(lambda: dog.failures > 5)
    assert "failure" in board.standing[0].said
    dog.stop()
    await asyncio.wait_for(running, 5)


async def test_alarms_are_told_elsewhere_and_end(database: Database) -> None:
    board = AlarmBoard("here:1")
    board.sound("disk", "It is full.")
    keeper = AlarmKeeper(database, board)
    running = asyncio.create_task(keeper.run())
    await eventually(lambda: alarms.standing(database))
    found = await alarms.standing(database)
    assert [(a.place, a.name, a.said) for a in found] == [("here:1", "disk", "It is full.")]
    assert len(await alarms.standing(database, board)) == 1  # not twice
    keeper.stop()
    await running
    assert await alarms.standing(database) == []


async def test_an_alarm_whose_process_is_gone_falls_silent(database: Database) -> None:
    insert = """INSERT INTO messor.alarms (place, name, said, seen_at)
                VALUES ('gone:1', 'disk', 'x', messor.clock() + $1::interval)"""
    async with database.connection() as connection:
        await connection.execute(insert.replace("$1", "'-2 minutes'"))
    assert await alarms.standing(database) == []
