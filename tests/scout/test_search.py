"""Paid once, kept before it is looked into: whatever fails, and whenever."""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import asyncpg
import pytest
from aiohttp import web

from messor.fetch.services.breaker import Breaker
from messor.scout import serps, track
from messor.scout.engines.registry import ConfiguredEngine
from messor.scout.search import Searcher, SearchOutcome, WantedSerp
from messor.store.database import Database
from simweb.services.standin import Failure
from tests.scout.conftest import Bench

AT_ONCE = timedelta(seconds=0)


async def spent(database: Database) -> Decimal:
    total: Decimal = await database.fetchval(
        "SELECT coalesce(sum(cost), 0) FROM messor.search_spend"
    )
    return total


async def used(database: Database, engine: str) -> tuple[int, Decimal]:
    row = await database.fetchrow(
        "SELECT requests, cost FROM messor.provider_usage WHERE provider = $1", f"search:{engine}"
    )
    return (row["requests"], row["cost"]) if row is not None else (0, Decimal(0))


async def take(database: Database, wanted: WantedSerp, *hired: ConfiguredEngine) -> SearchOutcome:
    return await track.snapshot(database, Searcher(database, hired), wanted)


async def test_a_page_is_paid_for_once_in_its_window(
    database: Database, bench: Bench, wanted: WantedSerp
) -> None:
    stand_in, hired = await bench.hire("serper", cost="0.001")
    first = await take(database, wanted, hired)
    second = await take(database, wanted, hired)
    assert (first.state, first.is_new) == ("answered", True)
    assert (second.state, second.is_new) == ("answered", False)
    assert second.request_id == first.request_id
    assert stand_in.searches == 1
    assert await spent(database) == Decimal("0.001")
    assert await used(database, "serper") == (1, Decimal("0.001"))


async def test_many_who_want_the_same_page_pay_once(
    database: Database, bench: Bench, wanted: WantedSerp
) -> None:
    stand_in, hired = await bench.hire("serper")
    searcher = Searcher(database, [hired])
    found = await asyncio.gather(*(searcher.search(wanted) for _ in range(8)))
    assert stand_in.searches == 1
    assert sum(one.is_new for one in found) == 1


async def test_the_answer_is_kept_whole_before_it_is_looked_into(
    database: Database, bench: Bench, wanted: WantedSerp
) -> None:
    _, hired = await bench.hire("serper")
    found = await Searcher(database, [hired]).search(wanted)
    row = await database.fetchrow(
        "SELECT body, raw_hash = sha256(body) AS sound, processed_at FROM messor.search_answers"
    )
    assert row is not None
    assert row["sound"]
    assert row["processed_at"] is None
    assert await database.fetchval("SELECT count(*) FROM messor.serp_snapshots") == 0
    # Whoever looks next finds it, and nobody is asked again.
    made = await serps.process_waiting(database)
    assert [snapshot.outcome for snapshot in made] == ["ok"]
    assert (await serps.of_request(database, found.request_id)).result_count > 3
    raw = await database.fetchval("SELECT raw_json ->> 'credits' FROM messor.serp_snapshots_raw")
    assert raw == "1"
    assert await serps.process_waiting(database) == []


async def test_whoever_dies_while_asking_leaves_a_gap_and_never_pays_again(
    database: Database, bench: Bench, wanted: WantedSerp
) -> None:
    stand_in, hired = await bench.hire("serper", cost="0.001")
    stand_in.failure = Failure.SILENT
    asking = asyncio.create_task(Searcher(database, [hired], hold=AT_ONCE).search(wanted))
    await stand_in.arrival.wait()
    asking.cancel()
    await asyncio.wait([asking])
    stand_in.failure = None
    found = await take(database, wanted, hired)
    assert found.state == "gap"
    assert "may have been paid" in found.message
    assert stand_in.searches == 0
    assert await spent(database) == Decimal("0.001")
    snapshot = await serps.of_request(database, found.request_id)
    assert (snapshot.outcome, snapshot.result_count) == ("failed", 0)


async def test_an_engine_without_price_is_asked_again_after_a_death(
    database: Database, bench: Bench, wanted: WantedSerp
) -> None:
    stand_in, hired = await bench.hire("searxng")
    stand_in.failure = Failure.SILENT
    asking = asyncio.create_task(Searcher(database, [hired], hold=AT_ONCE).search(wanted))
    await stand_in.arrival.wait()
    asking.cancel()
    await asyncio.wait([asking])
    stand_in.failure = None
    assert (await take(database, wanted, hired)).state == "answered"


async def test_a_refusal_costs_nothing_and_the_next_engine_is_asked(
    database: Database, bench: Bench, wanted: WantedSerp
) -> None:
    first, serper = await bench.hire("serper", cost="0.001", quota=0)
    second, brave = await bench.hire("brave", cost="0.005")
    found = await take(database, wanted, serper, brave)
    assert found.state == "answered"
    assert (first.searches, second.searches) == (0, 1)
    assert await used(database, "serper") == (0, Decimal(0))
    assert await spent(database) == Decimal("0.005")
    assert not serper.breaker.available
    assert (await serps.of_request(database, found.request_id)).engine == "brave"


async def test_an_engine_that_found_nobody_to_ask_is_no_answer(
    database: Database, bench: Bench, wanted: WantedSerp
) -> None:
    first, searxng = await bench.hire("searxng")
    second, serper = await bench.hire("serper", cost="0.001")
    first.failure = Failure.NOBODY_ANSWERS
    alone = await take(database, wanted, searxng)
    assert (alone.state, alone.is_new) == ("waiting", False)
    assert "google: Suspended: CAPTCHA" in alone.message
    assert await database.fetchval("SELECT count(*) FROM messor.serp_snapshots") == 0
    found = await take(database, wanted, searxng, serper)
    assert found.state == "answered"
    assert second.searches == 1
    assert (await serps.of_request(database, found.request_id)).engine == "serper"
    states = await database.fetch("SELECT engine, state FROM messor.search_spend ORDER BY engine")
    assert [tuple(row) for row in states] == [("searxng", "refused"), ("serper", "answered")]


async def test_a_page_that_lacks_engines_says_which(
    database: Database, bench: Bench, wanted: WantedSerp
) -> None:
    stand_in, hired = await bench.hire("searxng")
    stand_in.partial = True
    found = await take(database, wanted, hired)
    assert (found.state, found.message) == ("answered", "no response from google: timeout")


async def test_every_worker_waits_when_an_engine_asks_one_to(
    database: Database, bench: Bench, wanted: WantedSerp
) -> None:
    stand_in, hired = await bench.hire("serper")
    stand_in.failure = Failure.TOO_MANY
    await take(database, wanted, hired)
    asked = len(stand_in.asked)
    other = ConfiguredEngine(hired.engine, None, Breaker())  # of another process
    found = await take(database, wanted, other)
    assert found.state == "waiting"
    assert "is paused for another" in found.message
    assert len(stand_in.asked) == asked


async def test_after_a_loss_that_may_be_paid_only_free_engines_are_asked(
    database: Database, bench: Bench, wanted: WantedSerp
) -> None:
    first, serper = await bench.hire("serper", cost="0.001")
    second, brave = await bench.hire("brave", cost="0.005")
    third, searxng = await bench.hire("searxng")
    first.failure = Failure.CUT
    found = await take(database, wanted, serper, brave, searxng)
    assert found.state == "answered"
    assert (second.searches, third.searches) == (0, 1)
    assert await spent(database) == Decimal("0.001")


async def test_a_loss_that_may_be_paid_without_a_free_engine_is_a_gap(
    database: Database, bench: Bench, wanted: WantedSerp
) -> None:
    first, serper = await bench.hire("serper", cost="0.001")
    _, brave = await bench.hire("brave", cost="0.005")
    first.failure = Failure.CUT
    found = await take(database, wanted, serper, brave)
    assert found.state == "gap"
    assert "broke off" in found.message
    first.failure = None
    assert (await take(database, wanted, serper, brave)).state == "gap"
    assert first.searches == 0


async def test_a_malformed_answer_is_kept_and_is_a_gap(
    database: Database, bench: Bench, wanted: WantedSerp
) -> None:
    stand_in, hired = await bench.hire("serper", cost="0.001")
    stand_in.failure = Failure.BAD_JSON
    found = await take(database, wanted, hired)
    assert found.state == "answered"
    snapshot = await serps.of_request(database, found.request_id)
    assert (snapshot.outcome, snapshot.result_count) == ("failed", 0)
    assert await database.fetchval("SELECT body FROM messor.search_answers") == b'{"success": tru'
    assert await database.fetchval("SELECT raw_json FROM messor.serp_snapshots_raw") is None
    assert await database.fetchval("SELECT last_snapshot_at FROM messor.keywords") is None


async def test_a_budget_is_kept(database: Database, bench: Bench, wanted: WantedSerp) -> None:
    stand_in, hired = await bench.hire("serper", cost="0.001", budget="0.0005")
    found = await take(database, wanted, hired)
    assert found.state == "waiting"
    assert "budget of 0.0005" in found.message
    assert not stand_in.asked


async def test_an_engine_that_fails_is_left_alone_for_a_while(
    database: Database, bench: Bench, wanted: WantedSerp
) -> None:
    stand_in, hired = await bench.hire("serper")
    stand_in.failure = Failure.TOO_MANY
    assert (await take(database, wanted, hired)).state == "waiting"
    stand_in.failure = None
    found = await take(database, wanted, hired)
    assert found.state == "waiting"
    assert "is paused for another" in found.message
    bench.seconds += 61
    await database.fetch("UPDATE messor.provider_holds SET held_until = messor.clock()")
    assert (await take(database, wanted, hired)).state == "answered"


async def test_what_an_engine_says_it_charged_is_what_it_cost(
    database: Database, bench: Bench, wanted: WantedSerp
) -> None:
    _, hired = await bench.hire("dataforseo", cost="0.01")
    await take(database, wanted, hired)
    assert await spent(database) == Decimal("0.002")
    assert await used(database, "dataforseo") == (1, Decimal("0.002"))


async def test_the_table_itself_lets_nobody_pay_twice(
    database: Database, bench: Bench, wanted: WantedSerp
) -> None:
    _, hired = await bench.hire("serper")
    found = await take(database, wanted, hired)
    with pytest.raises(asyncpg.UniqueViolationError):
        await database.fetch(
            "INSERT INTO messor.search_spend (id, request_id, engine, month, cost)"
            " VALUES ($1, $2, 'brave', '2026-11-01', 1)",
            UUID(int=1),
            found.request_id,
        )


async def test_a_search_without_engines_says_so(database: Database, wanted: WantedSerp) -> None:
    found = await take(database, wanted)
    assert (found.state, found.message) == ("waiting", "No search engine is configured.")


async def test_given_up_it_is_a_gap(database: Database, wanted: WantedSerp) -> None:
    searcher = Searcher(database, [])
    found = await searcher.search(wanted)
    await searcher.give_up(found.request_id, found.message)
    assert (await searcher.search(wanted)).state == "gap"


async def test_hostile_texts_are_kept(database: Database, bench: Bench, wanted: WantedSerp) -> None:
    _, hired = await bench.hire("serper")
    found = await Searcher(database, [hired]).search(wanted)
    body = (
        rb'{"organic":[{"title":"a\u0000b \ud800","link":"http://x.test/\u0000","position":-1},'
        rb'{"title":"c","link":"javascript:alert(1)"},{"title":[],"link":{}},7,'
        rb'{"title":"d","link":"https://y.test/","position":1e9}],"credits":"\\u0000 \u0000"}'
    )
    await database.fetch(
        "UPDATE messor.search_answers SET body = $1, raw_hash = sha256($1), is_json = false", body
    )
    async with database.transaction() as connection:
        snapshot = await serps.process(connection, found.request_id)
    kept = await serps.results_of(database, snapshot.id)
    assert [result.domain for result in kept] == ["x.test", "y.test"]
    assert [result.rank for result in kept] == [1, 2]
    assert kept[0].title == "ab ?"


@pytest.mark.parametrize("heard", [False, True])
async def test_a_killed_process_pays_once_and_loses_nothing_that_was_kept(
    database: Database, bench: Bench, wanted: WantedSerp, heard: bool
) -> None:
    """Killed while the engine is silent, or after its answer was kept and before it was read."""
    stand_in, hired = await bench.hire("serper", cost="0.001")
    stand_in.failure = None if heard else Failure.SILENT
    where = (str(wanted.keyword_id), str(wanted.profile_id), wanted.window_key)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.scout.searching_process",
        database.dsn,
        *where,
        stand_in.base_url,
    )
    await stand_in.arrival.wait()
    if heard:
        await process.wait()
    else:
        process.kill()
        await process.wait()
    stand_in.failure = None
    found = await take(database, wanted, hired)
    assert found.state == ("answered" if heard else "gap")
    assert not found.is_new
    assert stand_in.searches == int(heard)
    assert len(stand_in.asked) == 1


async def test_an_answer_that_comes_after_it_was_given_up_is_kept(
    database: Database, bench: Bench, wanted: WantedSerp
) -> None:
    stand_in, hired = await bench.hire("serper", cost="0.001")
    release = asyncio.Event()
    answer = stand_in.refuse

    async def slowly(request: web.Request) -> web.StreamResponse | None:
        await release.wait()
        return await answer(request)

    stand_in.refuse = slowly  # type: ignore[method-assign]
    slow = asyncio.create_task(Searcher(database, [hired], hold=AT_ONCE).search(wanted))
    await stand_in.arrival.wait()
    assert (await take(database, wanted)).state == "gap"
    release.set()
    found = await slow
    assert found.state == "answered"
    async with database.transaction() as connection:
        snapshot = await serps.process(connection, found.request_id)
    assert snapshot.outcome == "ok"
    assert await database.fetchval("SELECT count(*) FROM messor.serp_snapshots") == 1
    assert await spent(database) == Decimal("0.001")
