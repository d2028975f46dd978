"""Events that fit a filter, stretch by stretch and in both orders: none missed, none told twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from messor.ledger.events import Event, record
from messor.ledger.queries import EVENTS, EventFilter
from messor.store.database import Database
from messor.store.listing import Position
from tests.crawling import admit


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("limit, scan", [(50, 1_000), (2, 1_000), (50, 3), (1, 1)])
async def test_none_is_missed(
    database: Database, limit: int, scan: int, *, newest_first: bool
) -> None:
    one, two = await admit(database, "one.example"), await admit(database, "two.example")
    for number in range(20):
        async with database.transaction() as connection:
            event = Event(
                "tasks.paused" if number % 6 == 0 else "tasks.resumed",
                "tester",
                (one if number % 2 else two).id,
                number % 3 + 1,
                {"number": number},
            )
            await record(connection, [event])
    wanted = [
        (EventFilter(type="tasks.paused"), [0, 6, 12, 18]),
        (EventFilter(kind="tasks", domain="one.example"), list(range(1, 20, 2))),
        (
            EventFilter(type="tasks.resumed,tasks.paused", domain="two.example"),
            list(range(0, 20, 2)),
        ),
        (EventFilter(type="tasks.resumed", page_id=2), [n for n in range(20) if n % 3 == 1]),
        (EventFilter(actor="tester", q='"NUMBER": 1'), [1, *range(10, 20)]),
        (EventFilter(type="tasks.stopped"), []),
        (EventFilter(actor="nobody"), []),
    ]
    order = "-committed" if newest_first else "committed"
    for asked, numbers in wanted:
        found: list[int] = []
        at: Position | None = None
        while True:
            part, at = await replace(EVENTS, scan=scan).select(database, asked, order, at, limit)
            found += [one.data["number"] for one in part]
            if at is None:
                break
        assert found == (numbers[::-1] if newest_first else numbers)


async def test_audit_events_are_left_out_unless_asked_for(database: Database) -> None:
    async with database.transaction() as connection:
        await record(connection, [Event("login.failed", "x"), Event("tasks.paused", "x")])
    everything = await EVENTS.read(database, EventFilter(with_audit=True))
    assert [one.type for one in everything.items] == ["tasks.paused", "login.failed"]
    open_to_all = await EVENTS.read(database, EventFilter())
    assert [one.type for one in open_to_all.items] == ["tasks.paused"]
