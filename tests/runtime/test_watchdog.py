"""Each component has its own watchdog: one that fails or hangs is started again, others go on."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from messor.core.heartbeat import Heartbeat
from messor.errors import UnavailableError
from messor.ledger import alarms
from messor.ledger.alarms import AlarmBoard, AlarmKeeper
from messor.runtime.components import WatchedComponents
from messor.runtime.process_group import ProcessGroup
from messor.runtime.stall import StallDetector, StallWatch, always
from messor.runtime.supervisor import RestartPolicy
from messor.runtime.watchdog import Watchdog
from messor.settings import Settings
from messor.store.database import Database
from messor.store.session import Session
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
        self.heartbeat = Heartbeat()

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
    first = Watchdog("frail", failing(4, frail, fault), board, policy=QUICK, look_seconds=0.05)
    other = Watchdog("sound", failing(0, sound, None), board, policy=QUICK, look_seconds=0.05)
    company = ProcessGroup([first, other])
    running = asyncio.create_task(company.run())
    await until(lambda: len(frail) == 5 and frail[-1].is_running)
    assert sound[0].is_running
    (alarm,) = board.standing
    assert alarm.name == "frail"
    assert "frail failed (" in alarm.message
    told = str(fault) if isinstance(fault, Exception) else "ended unexpectedly"
    assert told in alarm.message
    await until(lambda: not board.standing)  # it has run well for a while
    company.stop()
    await asyncio.wait_for(running, 5)
    assert len(sound) == 1
    assert not company.was_cut_short


async def test_one_that_never_comes_back_is_never_silent() -> None:
    board, made = AlarmBoard(), list[Component]()
    dog = Watchdog(
        "lost", failing(10**6, made, ValueError("no")), board, policy=QUICK, look_seconds=0.05
    )
    running = asyncio.create_task(dog.run())
    await until(lambda: dog.failures > 5)
    assert "failure" in board.standing[0].message
    dog.stop()
    await asyncio.wait_for(running, 5)


async def test_alarms_are_told_elsewhere_and_end(database: Database) -> None:
    board = AlarmBoard("here:1")
    board.sound("disk", "It is full.")
    keeper = AlarmKeeper(database, board)
    running = asyncio.create_task(keeper.run())
    await eventually(lambda: alarms.standing(database))
    found = await alarms.standing(database)
    assert [(a.place, a.name, a.message) for a in found] == [("here:1", "disk", "It is full.")]
    assert len(await alarms.standing(database, board)) == 1  # not twice
    keeper.stop()
    await running
    assert await alarms.standing(database) == []


async def test_an_alarm_whose_process_is_gone_falls_silent(database: Database) -> None:
    insert = """INSERT INTO messor.alarms (place, name, message, seen_at)
                VALUES ('gone:1', 'disk', 'x', messor.clock() + $1::interval)"""
    async with database.connection() as connection:
        await connection.execute(insert.replace("$1", "'-2 minutes'"))
    assert await alarms.standing(database) == []


class Ticking:
    """Beats while it runs, until something in it hangs; it may ignore that it is cancelled."""

    def __init__(self, *, patience: float = 0.2, is_deaf: bool = False) -> None:
        self.heartbeat = Heartbeat(patience)
        self.rounds = 0
        self.is_deaf = is_deaf
        self._hang = asyncio.Event()
        self._stop = asyncio.Event()

    def stop(self) -> None:
        self._stop.set()

    def hang(self) -> None:
        self._hang.set()

    async def run(self) -> None:
        while not self._stop.is_set():
            self.heartbeat.beat("ticking")
            self.rounds += 1
            if self._hang.is_set():
                await self._hang_for_ever()
            await asyncio.sleep(0.01)

    async def _hang_for_ever(self) -> None:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if not self.is_deaf:
                    raise


class Kennel:
    """A watchdog of components that can be made to hang, beside a sound one."""

    def __init__(self, *, is_deaf: bool = False, patience: float = 0.2) -> None:
        self.board = AlarmBoard()
        self.made: list[Ticking] = []
        self.told: list[tuple[str, str]] = []
        self.has_database = True
        self.other = Ticking(patience=patience)

        def make() -> Ticking:
            self.made.append(Ticking(patience=patience, is_deaf=is_deaf))
            return self.made[-1]

        dogs = [
            Watchdog(
                name, maker, self.board, policy=QUICK, look_seconds=0.02, cancel_seconds=0.05,
                responds=self.responds, on_stall=self.tell,
            )
            for name, maker in (("visits", make), ("jobs", lambda: self.other))
        ]  # fmt: skip
        self.group = ProcessGroup(dogs, farewell_seconds=2)
        self.running = asyncio.create_task(self.group.run())

    async def responds(self) -> bool:
        return self.has_database

    async def tell(self, name: str, message: str) -> None:
        self.told.append((name, message))

    async def end(self) -> None:
        for one in self.made:
            one.is_deaf = False
        self.group.stop()
        await asyncio.wait_for(self.running, 10)


@pytest.mark.parametrize("is_deaf", [False, True])
async def test_one_that_hangs_is_replaced_and_the_others_go_on(is_deaf: bool) -> None:
    kennel = Kennel(is_deaf=is_deaf)
    await until(lambda: kennel.made[0].rounds > 2)
    kennel.made[0].hang()
    await until(lambda: len(kennel.made) == 2 and kennel.made[1].rounds > 2)
    assert kennel.told == [("visits", "no progress for 0 s: ticking")]
    (alarm,) = kennel.board.standing
    assert "visits failed (no progress" in alarm.message
    rounds = kennel.other.rounds
    await until(lambda: kennel.other.rounds > rounds)
    await until(lambda: not kennel.board.standing)
    await kennel.end()


async def test_neither_an_idle_one_nor_one_that_waits_for_the_database_hangs() -> None:
    kennel = Kennel(patience=0.1)
    await until(lambda: kennel.made[0].rounds > 40)  # several times its patience
    assert len(kennel.made) == 1
    kennel.has_database = False
    kennel.made[0].hang()
    rounds = kennel.other.rounds
    await until(lambda: kennel.other.rounds > rounds + 40)
    assert len(kennel.made) == 1
    assert kennel.told == []
    kennel.has_database = True
    await until(lambda: len(kennel.made) == 2)
    await kennel.end()


async def test_silence_counts_by_looks_and_only_while_the_database_responds() -> None:
    """A clock that jumps, or a process that was stopped, adds one look at most."""
    answers = [True, False, False, True, True]

    async def responds() -> bool:
        return answers.pop(0)

    heartbeat = Heartbeat(15)
    detector = StallDetector(heartbeat, responds, 5)
    heartbeat.beat("flushing")
    assert await detector.look() is None  # the first look only learns where it stands
    found = [await detector.look() for _ in range(5)]
    assert found == [None, None, None, None, "flushing"]
    heartbeat.beat("flushing")
    assert await detector.look() is None


async def test_what_is_only_done_at_times_is_only_watched_then() -> None:
    heartbeat = Heartbeat(1)
    detector = StallDetector(heartbeat, always, 5)
    with heartbeat.during("committing"):
        assert await detector.look() is None
        assert await detector.look() == "committing"
    assert await detector.look() is None


async def test_what_cannot_be_restarted_alone_ends_its_process() -> None:
    hanging = Ticking(patience=0.1)
    watch = StallWatch("The job runner", hanging.heartbeat, always, look_seconds=0.02)
    group = ProcessGroup([hanging, watch], farewell_seconds=0.1)
    running = asyncio.create_task(group.run())
    await until(lambda: hanging.rounds > 20)
    hanging.hang()
    with pytest.raises(UnavailableError, match=r"makes no progress \(ticking\)"):
        await asyncio.wait_for(running, 10)


async def test_a_hang_is_an_event_and_an_alarm(database: Database, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    watches = WatchedComponents(settings, Session(database, None))
    await watches.report_hang("worker processes", "Worker 7 has not responded for 60 s.")
    (alarm,) = watches.board.standing
    assert alarm.name == "worker processes"
    rows = await database.fetch("SELECT type, data FROM messor.events")
    assert [row["type"] for row in rows] == ["component.stalled"]
    assert "Worker 7" in rows[0]["data"]


async def test_a_database_that_does_not_answer_is_noticed(database: Database) -> None:
    assert await database.responds()
    with socket.create_server(("127.0.0.1", 0)) as mute:  # it never accepts
        port = mute.getsockname()[1]
        assert not await Database(f"postgresql://nobody@127.0.0.1:{port}/x").responds(0.1)
    assert not await Database(f"postgresql://nobody@127.0.0.1:{port}/x").responds()
