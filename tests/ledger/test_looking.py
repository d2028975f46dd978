"""Events that fit a filter, stretch by stretch and in both orders: none missed, none told twice."""

from __future__ import annotations

import pytest

from messor.ledger import queries
from messor.ledger.events import Cursor, Event, record
from messor.ledger.queries import EventFilter
from messor.store.database import Database
from tests.crawling import admit


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("limit, stretch", [(50, 1_000), (2, 1_000), (50, 3), (1, 1)])
async def test_none_is_missed(
    database: Database, limit: int, stretch: int, *, newest_first: bool
) -> None:
    one, two = await admit(database, "one.example"), await admit(database, "two.example")
    for number in range(20):
        async with database.transaction() as connection:
            event = Event(
                "domain.kept" if number % 6 == 0 else "domain.noted",
                "tester",
                (one if number % 2 else two).id,
                number % 3 + 1,
                {"number": number},
            )
            await record(connection, [event])
    wanted = [
        (EventFilter(["domain.kept"]), [0, 6, 12, 18]),
        (EventFilter(["domain.noted", "domain.kept"], one.id), list(range(1, 20, 2))),
        (EventFilter(["domain.noted"], page_id=2), [n for n in range(20) if n % 3 == 1]),
        (EventFilter(["domain.trusted"]), []),
    ]  # fmt: skip
    for asked, numbers in wanted:
        found: list[int] = []
        at: Cursor | None = None
        while True:
            part = await queries.look(
                database, asked, beyond=at, newest_first=newest_first, limit=limit, stretch=stretch
            )
            found += [(one.event.data or {})["number"] for one in part.events]
            if part.reached is None:
                break
            at = part.reached
        assert found == (numbers[::-1] if newest_first else numbers)
