"""Plans through days and weeks: what runs how often, what is caught up, what people change."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from functools import cache

import msgspec
import pytest

from messor.errors import ConflictError, NotFoundError, UsageError
from messor.schedule import plan
from messor.schedule.orchestrators import Orchestrator, Registry
from messor.schedule.plan import Plan
from messor.store.database import Database
from tests.crawling import later as moved
from tests.schedule.conftest import (
    Later,
    clockwork,
    failing,
    history,
    ran,
    schedule_row,
)
from tests.schedule.marks import counting


async def change(database: Database, text: str | None, orchestrator: Orchestrator) -> None:
    async with database.transaction() as connection:
        await plan.override(connection, orchestrator, text, actor="ada")


async def switch(database: Database, orchestrator: Orchestrator, enabled: bool) -> None:
    async with database.transaction() as connection:
        await plan.switch(connection, orchestrator, enabled=enabled, actor="ada")


@cache
def start(dsn: str) -> timedelta:
    """To the next quarter past: a test that takes its time must not come into another hour.

    It is the same for a test, whose database is its own, from beginning to end.
    """
    del dsn
    return timedelta(minutes=(15 - datetime.now(UTC).minute) % 60)


async def live_through(dsn: str, hours: range, *orchestrators: Orchestrator) -> None:
    """A leader that looks once in each of these hours, at a quarter past."""
    for hour in hours:
        at = moved(dsn, start(dsn) + timedelta(hours=hour))
        async with Database(at, pool_size=1) as database:
            await clockwork(database, *orchestrators, holder=f"hour {hour}").turn()


async def test_four_days_of_looking_every_hour(dsn: str, database: Database) -> None:
    every = counting("O-Hour", "0 * * * *"), counting("O-Day", "0 2 * * *")
    await live_through(dsn, range(97), *every)
    runs = await history(database)
    hourly = [run["due_at"] for run in runs if run["name"] == "O-Hour"]
    daily = [run["due_at"] for run in runs if run["name"] == "O-Day"]
    assert (len(hourly), len(daily)) == (96, 4)
    assert len(set(hourly)) == 96  # each time is answered once
    assert {due_at.hour for due_at in daily} == {2}
    assert len({due_at.date() for due_at in daily}) == 4
    assert {run["outcome"] for run in runs} == {"ok"}
    assert all(run["due_at"] <= run["started_at"] <= run["finished_at"] for run in runs)
    assert await ran(database) == 100


async def test_what_was_missed_is_caught_up_once(dsn: str, database: Database) -> None:
    every = counting("O-Hour", "0 * * * *"), counting("O-Day", "0 2 * * *")
    await live_through(dsn, range(1), *every)
    week = timedelta(days=7)
    async with Database(moved(dsn, start(dsn) + week), pool_size=1) as after:
        work = clockwork(after, *every)
        assert await work.turn() == 0.0
        await work.turn()
        await work.turn()
        assert await ran(database) == 2
        now = await after.fetchval("SELECT messor.clock()")
        for orchestrator in every:
            row = await schedule_row(after, orchestrator.name)
            assert row["next_run_at"] > now
            assert row["next_run_at"] - now <= timedelta(days=1)
    missed = [msgspec.json.decode(run["detail"])["missed"] for run in await history(database)]
    assert sorted(missed) == [6, 167]


async def test_a_new_schedule_waits_for_its_time(database: Database) -> None:
    work = clockwork(database, counting())
    wait = await work.turn()
    assert 0 < wait <= 5
    assert await ran(database) == 0
    assert (await schedule_row(database, "O-Test"))["next_run_at"] is not None


async def test_one_that_fails_is_recorded_and_waits_for_its_next_time(
    dsn: str, database: Database
) -> None:
    broken = failing("O-Broken", ValueError("no such\x00 \ud800thing"))
    await live_through(dsn, range(3), broken, counting())
    runs = [(run["name"], run["outcome"]) for run in await history(database)]
    assert sorted(runs) == [("O-Broken", "failed")] * 2 + [("O-Test", "ok")] * 2
    row = await schedule_row(database, "O-Broken")
    assert row["last_outcome"] == "failed"
    assert "ValueError: no such \\\\ud800thing" in row["last_detail"]
    assert await ran(database) == 2  # the effects of the broken one were taken back
    events = await database.fetch("SELECT data FROM messor.events WHERE type = 'schedule.failed'")
    assert len(events) == 2
    (logged, _) = await database.fetch("SELECT * FROM messor.error_logs")
    assert (logged["category"], logged["error_type"]) == ("internal", "ValueError")
    assert "Traceback" in logged["stack_trace"]


async def test_a_run_that_never_ends_does_not_keep_others_from_running(
    dsn: str, database: Database
) -> None:
    """Its process dies each time: a KeyboardInterrupt passes through everything."""
    deadly = failing("O-Deadly", KeyboardInterrupt())  # type: ignore[arg-type]
    await live_through(dsn, range(1), deadly, counting())
    for hour in (2, 3, 4):
        with pytest.raises(KeyboardInterrupt):
            await live_through(dsn, range(hour, hour + 1), deadly, counting())
    assert await ran(database) == 2  # in the second and in the third life it came first
    outcomes = [run["outcome"] for run in await history(database) if run["name"] == "O-Deadly"]
    assert outcomes == ["interrupted", "interrupted"]


async def test_another_cadence_counts_from_now(dsn: str, database: Database) -> None:
    orchestrator = counting(cadence="0 2 * * *")
    await live_through(dsn, range(1), orchestrator)
    await change(database, "30 * * * *", orchestrator)
    row = await schedule_row(database, "O-Test")
    assert (row["cadence"], row["overridden_by"]) == ("30 * * * *", "ada")
    assert row["next_run_at"].minute == 30
    await live_through(dsn, range(1, 25), orchestrator)
    assert await ran(database) == 24
    await change(database, None, orchestrator)
    row = await schedule_row(database, "O-Test")
    assert (row["cadence"], row["overridden_by"], row["overridden_at"]) == (None, None, None)
    assert (row["next_run_at"].hour, row["next_run_at"].minute) == (2, 0)
    events = await database.fetch(
        "SELECT type, actor, data FROM messor.events WHERE type LIKE 'schedule.%' ORDER BY id"
    )
    assert [(event["type"], event["actor"]) for event in events] == [
        ("schedule.overridden", "ada"),
        ("schedule.reset", "ada"),
    ]
    assert '"before": "0 2 * * *"' in events[0]["data"]


async def test_a_cadence_that_is_none_changes_nothing(database: Database) -> None:
    with pytest.raises(UsageError):
        await change(database, "61 * * * *", counting())
    with pytest.raises(ConflictError, match="already runs by its default cadence"):
        await change(database, None, counting())
    assert await database.fetch("SELECT FROM messor.schedules") == []


async def test_the_usual_cadence_of_a_new_release_is_heeded(database: Database) -> None:
    await clockwork(database, counting(cadence="0 2 * * *")).turn()
    await database.fetch("UPDATE messor.leaders SET expires_at = messor.clock()")
    await clockwork(database, counting(cadence="0 3 * * *")).turn()
    assert (await schedule_row(database, "O-Test"))["next_run_at"].hour == 3


async def test_what_is_off_does_not_run_and_is_not_caught_up(dsn: str, database: Database) -> None:
    orchestrator = counting()
    await live_through(dsn, range(1), orchestrator)
    await switch(database, orchestrator, enabled=False)
    with pytest.raises(ConflictError, match="off already"):
        await switch(database, orchestrator, enabled=False)
    await live_through(dsn, range(1, 6), orchestrator)
    assert await ran(database) == 0
    async with Database(moved(dsn, start(dsn) + timedelta(hours=6)), pool_size=1) as then:
        await switch(then, orchestrator, enabled=True)
        await clockwork(then, orchestrator).turn()
    assert await ran(database) == 0
    await live_through(dsn, range(7, 8), orchestrator)
    assert await ran(database) == 1
    kinds = await database.fetch(
        "SELECT type FROM messor.events WHERE type LIKE 'schedule.%' ORDER BY id"
    )
    assert [kind["type"] for kind in kinds] == ["schedule.disabled", "schedule.enabled"]


async def test_a_stored_cadence_that_nobody_understands_counts_as_none(database: Database) -> None:
    await database.fetch(
        """INSERT INTO messor.schedules (name, cadence, overridden_by, overridden_at)
           VALUES ('O-Test', 'when it rains', 'somebody', messor.clock())"""
    )
    await clockwork(database, counting(cadence="0 2 * * *")).turn()
    assert (await schedule_row(database, "O-Test"))["next_run_at"].hour == 2


async def test_a_clock_that_was_ahead_for_a_while_does_not_stop_the_schedule(
    later: Later, database: Database
) -> None:
    far = await later(timedelta(days=400))
    await clockwork(far, counting()).turn()
    await database.fetch("UPDATE messor.leaders SET expires_at = messor.clock()")
    await clockwork(database, counting()).turn()
    next_run_at = (await schedule_row(database, "O-Test"))["next_run_at"]
    assert next_run_at - datetime.now(UTC) <= timedelta(hours=1)


def test_a_clock_set_back_a_little_does_not_repeat_a_minute() -> None:
    ten = datetime(2026, 11, 15, 10, tzinfo=UTC)
    ran_at_ten = Plan(
        "O-Test",
        planned_from="0 * * * *",
        next_run_at=ten + timedelta(hours=1),
        last_run_at=ten + timedelta(seconds=1),
    )
    back = ten - timedelta(seconds=5)
    assert ran_at_ten.next_run(counting(), back) == ten + timedelta(hours=1)


async def test_those_who_change_a_schedule_at_once_do_not_hurt_each_other(dsn: str) -> None:
    orchestrator = counting()
    async with Database(dsn, pool_size=6) as database:
        await asyncio.gather(
            *(change(database, f"{minute} * * * *", orchestrator) for minute in range(6))
        )
        row = await schedule_row(database, "O-Test")
        assert row["planned_from"] == row["cadence"]
        assert f"{row['next_run_at'].minute} * * * *" == row["cadence"]


def test_names_are_found_in_any_case_and_without_their_o() -> None:
    registry = Registry(counting())
    assert registry.get(" o-TEST").name == registry.get("test").name == "O-Test"
    with pytest.raises(ConflictError, match="O-SERP is not available: it needs a search engine"):
        registry.get("serp")
    with pytest.raises(NotFoundError, match="choose from: O-Test"):
        registry.get("O-Nothing")


def test_one_that_is_registered_takes_the_place_kept_for_it() -> None:
    registry = Registry(counting())
    assert [reserved.name for reserved in registry.reserved] == ["O-SERP"]
    registry.register(counting("O-SERP"))
    assert list(registry.reserved) == []
    assert registry.get("serp").does == "leaves a mark"
    with pytest.raises(ConflictError):
        registry.register(counting("O-SERP"))
