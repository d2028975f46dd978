"""O-Refresh: what leads to nothing is looked at rarely, and O-Daily leaves it so."""

from __future__ import annotations

from datetime import timedelta

import pytest

from messor.schedule import daily, refresh
from messor.schedule.orchestrators import RunPosition, Step
from messor.store.database import Database
from tests.crawling import admit
from tests.extraction.test_model_selection import own
from tests.insight.test_relevance_store import NEW_RECORD, new_page


async def run(database: Database, step: Step) -> dict[str, int]:
    """All steps of a run; what they counted."""
    counts: dict[str, int] = {}
    place: RunPosition | None = RunPosition()
    while place is not None:
        async with database.transaction() as connection:
            done = await step(connection, place)
        for name, count in done.counts.items():
            counts[name] = counts.get(name, 0) + count
        place = done.next
    return counts


async def days_until(database: Database, page_id: int) -> int:
    found: int = await database.fetchval(
        "SELECT round(extract(epoch FROM due_at - messor.clock()) / 86400) FROM messor.crawl_tasks"
        " WHERE page_id = $1",
        page_id,
    )
    return int(found)


async def test_pages_without_a_record_are_put_off_and_stay_so(database: Database) -> None:
    domain = await admit(database, "https://a.test/")
    barren = await new_page(database, domain.id, "barren")
    telling = await new_page(database, domain.id, "telling")
    await database.fetch(NEW_RECORD, telling, domain.id, "current", timedelta(days=1))
    await database.fetch("UPDATE messor.domains SET track_level = 'A'")
    await database.fetch(
        "UPDATE messor.crawl_tasks SET completed_at = last_fetched_at, outcome = 'ok'"
    )
    assert (await run(database, refresh.step))["pages_put_off"] == 1
    assert await days_until(database, barren) == 90
    assert await days_until(database, telling) == 1
    await run(database, daily.step)
    assert await days_until(database, barren) == 90
    again = await run(database, refresh.step)
    assert (again["pages_put_off"], again["pages_brought_back"]) == (0, 0)


@pytest.mark.parametrize("known_days, count", [(89.9, 0), (90.1, 1)])
async def test_a_page_is_unproductive_after_ninety_days(
    database: Database, known_days: float, count: int
) -> None:
    domain = await admit(database, "https://a.test/")
    barren = await new_page(database, domain.id, "barren")
    await database.fetch(
        "UPDATE messor.crawl_tasks SET completed_at = last_fetched_at, outcome = 'ok'"
    )
    await database.fetch(
        "UPDATE messor.pages SET found_at = messor.clock() - $2 * interval '1 day' WHERE id = $1",
        barren,
        known_days,
    )
    assert (await run(database, refresh.step))["pages_put_off"] == count


async def test_a_page_that_led_to_something_after_all_is_as_others(database: Database) -> None:
    domain = await admit(database, "https://a.test/")
    page = await new_page(database, domain.id, "late")
    await run(database, refresh.step)
    await database.fetch(
        "UPDATE messor.extractions SET last_record_at = messor.clock() + interval '1 minute'"
        " WHERE page_id = $1",
        page,
    )
    await database.fetch(NEW_RECORD, page, domain.id, "current", timedelta())
    assert (await run(database, refresh.step))["pages_brought_back"] == 1
    assert await database.fetchval("SELECT count(*) FROM messor.barren_pages") == 0


async def test_on_a_verticals_domain_only_wanted_kinds_count(database: Database) -> None:
    domain = await admit(database, "https://a.test/")
    async with database.transaction() as connection:
        await own(connection, "a.test", "products")
    page = await new_page(database, domain.id, "page")
    await database.fetch(NEW_RECORD, page, domain.id, "current", timedelta(days=1))
    await database.fetch("UPDATE messor.records SET kind = 'faq'")
    assert (await run(database, refresh.step))["pages_put_off"] == 1


async def test_the_ledger_forgets_jobs_that_have_long_ended(database: Database) -> None:
    await database.fetch(
        """INSERT INTO messor.ai_usage (scope, key, month, used_at)
           SELECT 'job', n::text, '0001-01-01', messor.clock() - make_interval(days => n)
             FROM unnest('{1,100}'::int[]) n"""
    )
    assert (await run(database, refresh.step))["ledger_rows_deleted"] == 1
