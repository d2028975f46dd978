"""O-SERP, O-Judge, O-Keywords: searched by tier, judged, expanded and rated without anybody."""

from __future__ import annotations

from contextlib import AsyncExitStack
from datetime import timedelta

import pytest

from messor.insight import classes, visibility
from messor.schedule import standard
from messor.schedule.standard import CLASSIFY, JUDGE, KEYWORDS, SERP
from messor.scout import discovery, keywords, serps, track
from messor.scout.candidate_queries import CANDIDATES
from messor.scout.judge_pending import judge_waiting
from messor.scout.keywords import Tier
from messor.scout.search import Searcher
from messor.scout.session_queries import SESSIONS
from messor.store.database import Database
from messor.verticals.verticals import Applied
from simweb.engines import SearchIndex
from simweb.world import World
from tests.crawling import later
from tests.held_lanes import make_domain
from tests.insight.making import apply_vertical
from tests.listed import listed
from tests.schedule.sites import run_steps
from tests.scout.conftest import Bench
from tests.scout.test_keywords import snapshot

TIERS: tuple[Tier, ...] = ("A", "B", "C")
PROFILE = {"funding": "us-desktop", "wellness": "sg-desktop"}


@pytest.fixture(scope="module")
def index() -> SearchIndex:
    made = SearchIndex(World("demo", seed=7))
    made.search("grant")
    return made


async def add(database: Database, applied: Applied, text: str, tier: Tier | None) -> None:
    profile = PROFILE[applied.vertical.name]
    async with database.transaction() as connection:
        await keywords.add(connection, applied, text, tier=tier, names=[profile], actor="test")


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
            for tier in TIERS:
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
        assert (snapshot.outcome, snapshot.message) == (
            "failed",
            "Its content could not be stored.",
        )


async def fill(database: Database, text: str, *results: tuple[str, str, str]) -> None:
    await snapshot(database, text, results)
    await database.fetch(
        "UPDATE messor.keywords SET last_snapshot_at = messor.clock() WHERE keyword_text = $1", text
    )


async def test_keywords_grow_and_are_rated_by_themselves(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O-Keywords adds what result pages suggest and rates all but what a person set."""
    assert (KEYWORDS.cadence, SERP.cadence) == ("10 4 * * *", "30 * * * *")
    monkeypatch.setattr(standard, "NEW_KEYWORDS_PER_DAY", 2)
    applied = await apply_vertical(database, "funding")
    for text in ("museum fund", "museum fund europe", "museum grant"):
        await add(database, applied, text, None)
    await add(database, applied, "youth grant", "B")
    await database.fetch("UPDATE messor.keywords SET source = 'template'")
    related = [("related", f"museum fund {word}", "") for word in ("deadline", "award", "prize")]
    await fill(database, "museum fund", *related, ("organic", "", "own.test"))
    for _ in range(3):
        await fill(database, "museum fund europe", ("organic", "", "other.test"))
        await fill(database, "youth grant", ("organic", "", "other.test"))
    await fill(database, "museum grant", ("organic", "", "own.test"), ("organic", "", "also.test"))
    for name in ("own.test", "also.test"):
        await make_domain(database, name)
    await database.fetch(
        "UPDATE messor.serp_results r SET domain_id = d.id FROM messor.domains d"
        " WHERE d.domain = r.domain"
    )
    counts = await run_steps(database, KEYWORDS)
    assert counts == {
        "steps": 2,
        "keywords_added": 2,
        "keywords_rated": 4,
        "tiers_changed": 2,
        "keywords_pruned": 1,
    }
    rows = await database.fetch("SELECT keyword_text, tier, active, value FROM messor.keywords")
    now = {row["keyword_text"]: (row["tier"], row["active"]) for row in rows}
    assert now["museum fund"] == ("B", True)  # one of three places: 0.2
    assert now["museum grant"] == ("B", True)  # two: 0.4
    assert now["museum fund europe"] == ("C", False)
    # Without any yield for three pages, and yet as a person left it; its value is measured.
    assert now["youth grant"] == ("B", True)
    assert next(row["value"] for row in rows if row["keyword_text"] == "youth grant") == 0
    types = "SELECT type, actor FROM messor.events WHERE type LIKE 'keywords.%' ORDER BY id"
    facts = [("keywords.expanded", "O-Keywords"), ("keywords.tiered", "O-Keywords")]
    assert [tuple(row) for row in await database.fetch(types)] == facts
    assert (await run_steps(database, KEYWORDS))["keywords_added"] == 1  # the rest of the three
    assert (await run_steps(database, KEYWORDS))["keywords_added"] == 0
    assert len(await database.fetch(types)) == 3  # nothing happened, so nothing is recorded


async def test_a_new_keyword_is_searched_within_the_hour_and_counts_in_its_first_window(
    database: Database, index: SearchIndex
) -> None:
    """Before the daily ones, although its tier is C."""
    applied = await apply_vertical(database, "funding")
    await add(database, applied, "climate grant", "A")
    async with AsyncExitStack() as stack:
        _, hired = await Bench(index, stack).hire("serper")
        searcher = Searcher(database, [hired])
        (item,) = await track.due(database, applied.id)
        await track.snapshot(database, searcher, item.wanted)
        week = await visibility.last_window(database, timedelta(days=7))
        before = await visibility.keywords_measured(database, applied, week)
        await database.fetch("DELETE FROM messor.search_requests")  # the next day
        await add(database, applied, "museum fund", None)
        assert [one.wanted.query for one in await track.due(database, applied.id)] == [
            "museum fund",
            "climate grant",
        ]
        assert (await run_steps(database, SERP))["snapshots_asked_for"] == 2
        jobs = await database.fetch(
            "SELECT k.keyword_text, j.priority FROM messor.jobs j"
            " JOIN messor.keywords k ON k.id = j.target_id ORDER BY j.priority"
        )
        assert [tuple(row) for row in jobs] == [("museum fund", 3), ("climate grant", 4)]
        for item in await track.due(database, applied.id):
            await track.snapshot(database, searcher, item.wanted)
    week = await visibility.last_window(database, timedelta(days=7))
    assert (before, await visibility.keywords_measured(database, applied, week)) == (1, 2)
