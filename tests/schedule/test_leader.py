"""Leadership: one leads, the others stand by, and who lost the lead can do nothing more."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from messor.errors import LeaseLostError
from messor.schedule import leader, plan
from messor.schedule.orchestrators import Registry
from messor.schedule.runs import ScheduleRunner, begin_due
from messor.store.database import Database
from tests.moments import somebody_waits
from tests.schedule.conftest import (
    Later,
    clockwork,
    history,
    ran,
    schedule_row,
)
from tests.schedule.marks import counting

OVERDUE = "UPDATE messor.schedules SET next_run_at = messor.clock() - interval '1 second'"


async def test_of_eight_that_race_exactly_one_leads(dsn: str) -> None:
    async with Database(dsn, pool_size=8) as database:
        for _ in range(5):
            taken = await asyncio.gather(*(leader.take(database, f"h{n}", 30) for n in range(8)))
            assert sum(lead is not None for lead in taken) == 1
            await database.fetch("UPDATE messor.leaders SET expires_at = messor.clock()")
        assert await database.fetchval("SELECT token FROM messor.leaders") == 5


async def test_eight_clockworks_run_what_is_due_once(dsn: str, database: Database) -> None:
    async with Database(dsn, pool_size=8) as shared:
        works = [clockwork(shared, counting(), holder=f"h{n}") for n in range(8)]
        await asyncio.gather(*(work.turn() for work in works))
        await database.fetch(OVERDUE)
        await asyncio.gather(*(work.turn() for work in works))
        assert await ran(database) == 1
        assert sum(work.leads for work in works) == 1


async def test_the_lead_cannot_be_taken_before_it_ran_out(later: Later) -> None:
    now, soon, late = [await later(timedelta(seconds=seconds)) for seconds in (0, 20, 31)]
    assert await leader.take(now, "first", 30) is not None
    assert await leader.take(soon, "second", 30) is None
    assert 0 < await leader.remaining(soon) <= 10
    assert await leader.remaining(late) < 0
    taken = await leader.take(late, "second", 30)
    assert taken is not None
    assert taken.token == 2
    found = await leader.find(late)
    assert found is not None
    assert (found.holder, found.leads) == ("second", True)


async def test_holding_renews_the_lead(later: Later) -> None:
    now, soon, late = [await later(timedelta(seconds=seconds)) for seconds in (0, 20, 40)]
    lead = await leader.take(now, "first", 30)
    assert lead is not None
    async with soon.transaction() as connection:
        await lead.hold(connection)
    assert await leader.take(late, "second", 30) is None


async def test_a_lead_that_ran_out_untaken_is_still_good(later: Later) -> None:
    now, late = [await later(timedelta(seconds=seconds)) for seconds in (0, 300)]
    lead = await leader.take(now, "first", 30)
    assert lead is not None
    async with late.transaction() as connection:
        await lead.hold(connection)
    assert await leader.take(late, "second", 30) is None


async def test_who_resigns_makes_room_at_once(database: Database) -> None:
    lead = await leader.take(database, "first", 30)
    assert lead is not None
    async with database.connection() as connection:
        await lead.resign(connection)
    assert await leader.take(database, "second", 30) is not None
    async with database.connection() as connection:
        await lead.resign(connection)  # nobody listens any more
    assert await leader.take(database, "third", 30) is None


async def test_nobody_takes_over_while_a_leaders_transaction_is_open(later: Later) -> None:
    now, late = [await later(timedelta(seconds=seconds)) for seconds in (0, 300)]
    lead = await leader.take(now, "first", 30)
    assert lead is not None
    async with now.transaction() as connection:
        await lead.hold(connection)
        taking = asyncio.create_task(leader.take(late, "second", 30))
        await somebody_waits(connection)
        assert not taking.done()
    assert await taking is not None  # free at last, and by that clock long run out


async def test_a_leader_that_slept_too_long_runs_nothing(later: Later) -> None:
    """It took up a run, slept, and another has led since."""
    orchestrator, registry = counting(), Registry(counting())
    now, late = [await later(timedelta(hours=hours)) for hours in (0, 3)]
    lead = await leader.take(now, "sleeper", 30)
    assert lead is not None
    async with now.transaction() as connection:
        await plan.keep(connection, registry)
    await now.fetch(OVERDUE)
    run = await begin_due(now, orchestrator, lead, "sleeper")
    assert run is not None

    other = clockwork(late, orchestrator, holder="other")
    await other.turn()
    assert await ran(late) == 1

    with pytest.raises(LeaseLostError):
        await ScheduleRunner(now, lead).carry_out(run)
    with pytest.raises(LeaseLostError):
        await begin_due(now, orchestrator, lead, "sleeper")
    assert await ran(late) == 1
    outcomes = [(run["outcome"], run["started_by"], run["token"]) for run in await history(late)]
    assert outcomes == [("interrupted", "unknown", None), ("ok", "other", 2)]


async def test_a_clockwork_that_lost_the_lead_stands_by(later: Later) -> None:
    now, late = [await later(timedelta(hours=hours)) for hours in (0, 3)]
    works = clockwork(now, counting()), clockwork(late, counting())
    leading = []
    for work in (works[0], works[1], works[0]):
        await work.turn()
        leading.append([each.leads for each in works])
    assert leading == [[True, False], [True, True], [False, True]]  # it learns it when it looks
    assert await works[0].turn() > 0
    assert await ran(late) == 1
    assert (await schedule_row(late, "O-Test"))["last_outcome"] == "ok"
