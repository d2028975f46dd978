"""What is stored of result pages: places, blocks, hashes; and what the tables refuse."""

from __future__ import annotations

import hashlib

import asyncpg
import pytest

from messor.scout import serps
from messor.scout.search import Searcher, WantedSerp
from messor.store.database import Database
from tests.crawling import submit
from tests.scout.conftest import Bench

PAGE = b"""{"organic": [
 {"title": "Food bank", "link": "https://bank.example/help", "snippet": "Parcels on Monday", "position": 1},
 {"title": "Other", "link": "https://other.example/", "snippet": "Also food", "position": 2}],
 "credits": 1}"""
PLACE = """
INSERT INTO messor.serp_results (snapshot_id, rank_position, block_type) VALUES ($1, $2, $3)
"""

REQUEST = """
INSERT INTO messor.search_requests (id, keyword_id, serp_profile_id, window_key)
SELECT gen_random_uuid(), keyword_id, serp_profile_id, 'another' FROM messor.serp_snapshots
"""
AGAIN = """
INSERT INTO messor.serp_snapshots (id, keyword_id, serp_profile_id, request_id, window_key, engine,
                                   outcome, captured_at)
SELECT gen_random_uuid(), s.keyword_id, s.serp_profile_id, r.id, 'another', 'serper', 'ok',
       s.captured_at + $1::text::interval
  FROM messor.serp_snapshots s, messor.search_requests r WHERE r.window_key = 'another'
"""


@pytest.fixture
async def snapshot(database: Database, bench: Bench, wanted: WantedSerp) -> serps.SerpSnapshot:
    """A result page whose first domain is registered."""
    await submit(database, "bank.example")
    _, hired = await bench.hire("serper")
    found = await Searcher(database, [hired]).search(wanted)
    await database.fetch("UPDATE messor.search_answers SET body = $1, raw_hash = sha256($1)", PAGE)
    async with database.transaction() as connection:
        return await serps.process(connection, found.request_id)


async def test_each_result_keeps_place_domain_url_title_and_snippet(
    database: Database, snapshot: serps.SerpSnapshot
) -> None:
    rows = await database.fetch(
        "SELECT * FROM wellness.serp_results WHERE snapshot_id = $1 ORDER BY rank_position",
        snapshot.id,
    )
    known = await database.fetchval("SELECT id FROM messor.domains WHERE domain = 'bank.example'")
    fields = ("rank_position", "block_type", "domain_id", "url", "title", "snippet")
    assert [tuple(row[name] for name in fields) for row in rows] == [
        (1, "organic", known, "https://bank.example/help", "Food bank", "Parcels on Monday"),
        (2, "organic", None, "https://other.example/", "Other", "Also food"),
    ]


async def test_an_answer_is_stored_with_the_hash_of_its_bytes(
    database: Database, snapshot: serps.SerpSnapshot
) -> None:
    row = await database.fetchrow(
        "SELECT * FROM wellness.serp_snapshots WHERE id = $1", snapshot.id
    )
    assert row is not None
    assert row["raw_hash"] == hashlib.sha256(PAGE).hexdigest()
    assert row["raw_json"] == PAGE.decode()
    with pytest.raises(asyncpg.CheckViolationError):
        await database.fetch("UPDATE messor.search_answers SET body = 'other'")


async def test_a_keyword_has_one_snapshot_at_a_time(
    database: Database, snapshot: serps.SerpSnapshot
) -> None:
    await database.fetch(REQUEST)
    with pytest.raises(asyncpg.UniqueViolationError, match="captured_at"):
        await database.fetch(AGAIN, "0 seconds")
    await database.fetch(AGAIN, "1 second")


async def test_a_place_counts_from_one(database: Database, snapshot: serps.SerpSnapshot) -> None:
    with pytest.raises(asyncpg.CheckViolationError):
        await database.fetch(PLACE, snapshot.id, 0, "ad")
    await database.fetch(PLACE, snapshot.id, 1, "ad")


async def test_the_four_specified_blocks_can_be_stored_and_no_unknown_one(
    database: Database, snapshot: serps.SerpSnapshot
) -> None:
    for block in ("organic", "local_pack", "featured", "ad"):
        await database.fetch(PLACE, snapshot.id, 50, block)
    for unknown in ("banner", None):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError):
            await database.fetch(PLACE, snapshot.id, 51, unknown)


async def test_a_place_of_a_block_is_taken_once(
    database: Database, snapshot: serps.SerpSnapshot
) -> None:
    with pytest.raises(asyncpg.UniqueViolationError):
        await database.fetch(PLACE, snapshot.id, 1, "organic")
    await database.fetch(PLACE, snapshot.id, 1, "featured")
