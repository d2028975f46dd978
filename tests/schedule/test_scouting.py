"""O-SERP, O-Judge: snapshots are asked for by tier, and what they show is judged by itself."""

from __future__ import annotations

from contextlib import AsyncExitStack
from datetime import timedelta

import pytest

from messor.insight import classes
from messor.schedule import standard
from messor.schedule.standard import CLASSIFY, JUDGE, SERP
from messor.scout import discovery, keywords, serps, track
from messor.scout.candidate_queries import CANDIDATES
from messor.scout.judge_pending import judge_waiting
from messor.scout.search import Searcher
from messor.scout.session_queries import SESSIONS
from messor.store.database import Database
from messor.verticals.verticals import Applied
from simweb.engines import SearchIndex
from simweb.world import World
from tests.crawling import later
from tests.insight.making import apply_vertical
from tests.listed import listed
from tests.schedule.sites import run_steps
from tests.scout.conftest import Bench

PROFILE = {"funding": "us-desktop", "wellness": "sg-desktop"}


@pytest.fixture(scope="module")
def index() -> SearchIndex:
    made = SearchIndex(World("demo", seed=7))
    made.search("grant")
    return made


async def add(database: Database, applied: Applied, text: str, tier: str) -> None:
    profile = PROFILE[applied.vertical.name]
    async with database.transaction() as connection:
        await keywords.add(connection, applied, text, tier=tier, names=[profile])


async def windows(database: Database) -> list[str]:
    rows = await database.fetch(
        "SELECT dedupe_key FROM messor.jobs WHERE job_type = 'serp_snapshot'"
    )
    return sorted(row["dedupe_key"].rpartition(":")[2] for row in rows)


async def test_snapshots_are_asked_for_by_tier(dsn: str) -> None:
    """Of every vertical: A each day, B each week, C each month, and once in each."""
    # The middle of a month that begins on a Monday, so that no day here ends a week or a month.
    async with Database(dsn) as database:
        start = await database.fetchval(
            """SELECT extract(epoch FROM make_timestamptz(2027, 3, 8, 12, 0, 0, 'UTC')
                                         - clock_timestamp())::bigint"""
        )
        for name in PROFILE:
            applied = await apply_vertical(database, name)
            for tier in "ABC":
                await add(database, applied, f"{name} {tier}", tier)

    async def steps(days: int) -> int:
        async with Database(later(dsn, timedelta(seconds=start, days=days))) as then:
            return (await run_steps(then, SERP))["snapshots_asked_for"]

    assert await steps(0) == 6
    assert await steps(0) == 0
    assert await steps(1) == 2  # tier A of both
    assert await steps(7) == 4  # and B
    assert await steps(30) == 6
    async with Database(dsn) as database:
        assert set(await windows(database)) == {
            *("2027-03-08", "2027-03-09", "2027-03-15", "2027-04-07"),
            *("2027-W10", "2027-W11", "2027-W14"),
            *("2027-03", "2027-04"),
        }


async def test_what_was_searched_for_is_judged_by_itself(
    database: Database, index: SearchIndex
) -> None:
    """An answer that nobody looked into is processed, too, and nobody is asked again."""
    applied = await apply_vertical(database, "funding")
    for text in ("museum fund", "climate grant", "youth project funding"):
        await add(database, applied, text, "A")
    async with AsyncExitStack() as stack:
        stand_in, hired = await Bench(index, stack).hire("serper")
        searcher = Searcher(database, [hired])
        first, *others = await track.due(database, applied.id)
        await searcher.search(first.wanted)  # and its process was gone
        for item in others:
            await track.snapshot(database, searcher, item.wanted)
        counts = await run_steps(database, JUDGE)
        assert stand_in.searches == 3
    assert (counts["answers_processed"], counts["pages_judged"]) == (1, 3)
    taken = await listed(CANDIDATES, database, status="PENDING_CRAWL")
    assert counts["candidates_created"] == len(taken) > 0
    (session,) = await listed(SESSIONS, database)
    assert (session.state, session.started_by) == ("finished", "O-Judge")
    again = await run_steps(database, JUDGE)
    assert (again["pages_judged"], again["candidates_created"]) == (0, 0)
    assert len(await listed(SESSIONS, database)) == 1


async def test_a_domain_is_classified_anew_once_a_candidate_was_read(
    database: Database, index: SearchIndex
) -> None:
    applied = await apply_vertical(database, "funding")
    await add(database, applied, "museum fund", "A")
    async with AsyncExitStack() as stack:
        _, hired = await Bench(index, stack).hire("serper")
        (item,) = await track.due(database, applied.id)
        await track.snapshot(database, Searcher(database, [hired]), item.wanted)
    await run_steps(database, JUDGE)
    _, second, *_ = await listed(CANDIDATES, database)
    assert (await run_steps(database, CLASSIFY))["domains_classified"] >= 2
    assert (await run_steps(database, CLASSIFY))["domains_classified"] == 0
    async with database.transaction() as connection:
        await classes.override(connection, second.domain, "news", actor="ada")
    await database.fetch("UPDATE messor.candidates SET crawled_at = messor.clock()")
    others = await database.fetchval("SELECT count(DISTINCT domain) FROM messor.candidates") - 1
    assert (await run_steps(database, CLASSIFY))["domains_classified"] == others
    assert (await classes.show(database, second.domain))["class"] == "news"


async def test_a_judge_that_is_cut_off_leaves_all_as_it_was(
    database: Database, index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    applied = await apply_vertical(database, "funding")
    await add(database, applied, "museum fund", "A")
    async with AsyncExitStack() as stack:
        _, hired = await Bench(index, stack).hire("serper")
        await track.snapshot(
            database,
            Searcher(database, [hired]),
            (await track.due(database, applied.id))[0].wanted,
        )

    class CutOffError(Exception):
        pass

    async def cut_off() -> None:
        async with database.transaction() as connection:
            await judge_waiting(connection, applied, actor="test")
            raise CutOffError

    with pytest.raises(CutOffError):
        await cut_off()
    assert await database.fetchval("SELECT count(*) FROM messor.candidates") == 0
    assert await database.fetchval("SELECT count(*) FROM messor.domains") == 0
    assert len(await discovery.unjudged(database, applied)) == 1
    monkeypatch.setattr(standard, "JUDGED_PER_STEP", 1)
    assert (await run_steps(database, JUDGE))["pages_judged"] == 1


async def test_an_answer_that_cannot_be_stored_is_a_gap_and_stops_nobody(
    database: Database, index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    applied = await apply_vertical(database, "funding")
    for text in ("museum fund", "climate grant"):
        await add(database, applied, text, "A")
    async with AsyncExitStack() as stack:
        _, hired = await Bench(index, stack).hire("serper")
        searcher = Searcher(database, [hired])
        found = [
            await searcher.search(item.wanted) for item in await track.due(database, applied.id)
        ]
    monkeypatch.setattr(serps, "domain_of", lambda url: "\x00" if "/" in (url or "") else None)
    async with database.transaction() as connection:
        assert await serps.process_some(connection) == 2
    for one in found:
        snapshot = await serps.of_request(database, one.request_id)
        assert (snapshot.outcome, snapshot.said) == ("failed", "Its content could not be stored.")
