"""O-Rollup: a run counts all that has settled, hour by hour, and then finds nothing left to do."""

from __future__ import annotations

from messor.schedule.orchestrators import RunPosition
from messor.schedule.standard import ROLLUP
from messor.store.database import Database
from tests.console import seeding
from tests.crawling import admit

OLD = "UPDATE messor.http_fetches SET fetched_at = fetched_at - interval '5 hours'"
COUNTED = "SELECT coalesce(sum(fetches), 0) FROM messor.fetch_days"


async def _run(database: Database) -> int:
    """One run, each step in a transaction of its own; answers its steps."""
    place: RunPosition | None = RunPosition()
    steps = 0
    while place is not None:
        async with database.transaction() as connection:
            place = (await ROLLUP.step(connection, place)).next
        steps += 1
    return steps


async def test_a_run_counts_what_has_settled(database: Database) -> None:
    domain = await admit(database, "shop.example")
    for number in range(3):
        await seeding.add_page(database, domain, f"https://shop.example/{number}")
    assert await _run(database) > 24  # from as far back as charts go
    assert await database.fetchval(COUNTED) == 0  # nothing of it has settled
    await database.fetch("UPDATE messor.fetch_rollup SET rolled_until = '-infinity'")
    await database.fetch(OLD)
    await _run(database)
    assert await database.fetchval(COUNTED) == 3
    assert await _run(database) == 1
    assert await database.fetchval(COUNTED) == 3
