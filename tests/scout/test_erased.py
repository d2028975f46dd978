"""What search engines say of a domain that was erased is neither left nor kept again."""

from __future__ import annotations

from uuid import UUID

import pytest

from messor.governance import erasure
from messor.scout import serps
from messor.scout.search import Searcher, WantedSerp
from messor.store.database import Database
from tests.scout.conftest import Bench

SAID = """
SELECT count(*) FROM messor.serp_results
 WHERE domain = $1 AND num_nonnulls(url, title, snippet) > 0
"""
NAMED = "SELECT domain FROM messor.serp_results WHERE domain IS NOT NULL ORDER BY id LIMIT 1"
STATES = "SELECT state FROM messor.search_requests"


async def erase(database: Database, name: str) -> None:
    async with database.transaction() as connection:
        await erasure.erase_domain(connection, name, actor="ada", reason="they asked")


@pytest.fixture
async def request_id(database: Database, bench: Bench, wanted: WantedSerp) -> UUID:
    _, hired = await bench.hire("serper")
    return (await Searcher(database, [hired]).search(wanted)).request_id


async def test_results_and_answers_that_name_an_erased_domain_go(
    database: Database, request_id: UUID
) -> None:
    await serps.process_waiting(database)
    name = await database.fetchval(NAMED)
    others = await database.fetchval(SAID.replace("= $1", "<> $1"), name)
    assert await database.fetchval(SAID, name) > 0
    await erase(database, name)
    assert await database.fetchval(SAID, name) == 0
    assert await database.fetchval(SAID.replace("= $1", "<> $1"), name) == others > 0
    assert await database.fetchval("SELECT count(*) FROM messor.search_answers") == 0
    assert await database.fetchval(STATES) == "answered"  # nobody is asked again
    assert (await serps.of_request(database, request_id)).result_count > 3


async def test_later_answers_do_not_bring_it_back(
    database: Database, bench: Bench, wanted: WantedSerp
) -> None:
    _, hired = await bench.hire("serper")
    await Searcher(database, [hired]).search(wanted)
    async with database.transaction() as connection:
        for name in await _named(database):
            await erasure.erase_domain(connection, name, actor="ada", reason="they asked")
    await serps.process_waiting(database)
    said = "SELECT count(*) FROM messor.serp_results WHERE block_type = 'organic' AND title IS NOT NULL"
    assert await database.fetchval(said) == 0
    assert await database.fetchval("SELECT count(*) FROM messor.search_answers") == 0


async def _named(database: Database) -> list[str]:
    """The domains that the waiting answer names."""
    rows = await database.fetch(
        """SELECT DISTINCT r ->> 'link' AS url FROM messor.search_answers a,
                  jsonb_array_elements(convert_from(a.body, 'UTF8')::jsonb -> 'organic') r"""
    )
    found = {serps.domain_of(row["url"]) for row in rows}
    return sorted(name for name in found if name is not None)
