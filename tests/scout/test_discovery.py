"""From result pages to candidates: judged, counted, kept, reviewed; and what the table forbids."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import asyncpg
import pytest

from messor.errors import ConflictError, UsageError
from messor.registry import domains
from messor.registry.domains import Submission
from messor.scout import candidates, discovery, explore, keywords, track
from messor.scout.candidate_queries import CANDIDATES
from messor.scout.candidates import Candidate
from messor.scout.discovery import Discovery, ProcessingStats
from messor.scout.judges.model import SearchResult
from messor.scout.judges.panel import Panel
from messor.scout.search import Searcher
from messor.scout.session_queries import SESSIONS
from messor.store.database import Database
from messor.verticals import files
from messor.verticals.verticals import Applied
from tests.listed import listed
from tests.scout.conftest import Apply, Bench

NOW = datetime(2026, 11, 16, tzinfo=UTC)


def result(
    domain: str, title: str, snippet: str, path: str = "/", position: int = 1
) -> SearchResult:
    url = f"https://{domain}{path}"
    return SearchResult(url, domain, title, snippet, "serper", "research grant", position)


GOOD = (
    "Research grant 2026 | Alder Foundation",
    "Apply for funding: eligible charities, deadline March 2026.",
)
POOR = ("Holiday pictures", "We went to the sea and it rained all day long.")


async def run(
    database: Database, applied: Applied, *results: SearchResult
) -> tuple[UUID, ProcessingStats]:
    async with database.transaction() as connection:
        session_id = await discovery.begin(connection, applied, actor="test")
    panel = Panel(applied.vertical, now=lambda: NOW)
    stats = await Discovery(database, applied, session_id, panel).process(results)
    async with database.transaction() as connection:
        await discovery.end(connection, session_id, stats)
    return session_id, stats


def test_six_judges_speak_and_the_mean_is_by_their_weights() -> None:
    panel = Panel(files.shipped("funding").vertical, now=lambda: NOW)
    judgement = panel.judge(result("alder.org", *GOOD))
    assert {score.judge_name for score in judgement.judge_scores} == {
        "keyword",
        "domain_credibility",
        "geography",
        "organisation_type",
        "freshness",
        "snippet_quality",
    }
    weight = sum(score.weight for score in judgement.judge_scores)
    total = sum(score.score * score.weight for score in judgement.judge_scores)
    assert judgement.confidence_score == pytest.approx(total / weight, abs=1e-4)
    assert judgement.should_crawl
    assert judgement.organisation_name == "Alder Foundation"
    assert judgement.program_name == "Research grant 2026"
    assert all(score.explanation for score in judgement.judge_scores)
    assert not panel.judge(result("sea.com", *POOR)).should_crawl


def test_a_judge_with_nothing_to_go_by_does_not_count() -> None:
    panel = Panel(files.shipped("funding").vertical, now=lambda: NOW)
    scores = panel.judge(result("alder.org", "Research grant | Alder Foundation", "")).judge_scores
    silent = {score.judge_name for score in scores if score.weight == 0}
    assert silent == {"geography", "freshness", "snippet_quality"}


async def test_a_session_keeps_candidates_counts_and_figures(
    database: Database, apply: Apply
) -> None:
    applied = await apply("funding")
    session_id, stats = await run(
        database,
        applied,
        result("alder.org", *GOOD),
        result("alder.org", *GOOD, path="/second", position=2),
        result("sea.com", *POOR),
    )
    figures = stats.summary()
    assert figures["total_processed"] == 3
    assert figures["candidates_created"] == 1
    assert figures["skipped_low_confidence"] == 1
    assert figures["skipped_domain_already_processed"] == 1
    assert figures["failures"] == 0
    assert figures["min_confidence"] == figures["max_confidence"] == figures["average_confidence"]
    kept = {one.domain: one for one in await listed(CANDIDATES, database, session_id=session_id)}
    assert kept["alder.org"].status == "PENDING_CRAWL"
    assert kept["sea.com"].status == "SKIPPED_LOW_CONFIDENCE"
    assert kept["sea.com"].validation_notes["should_crawl"] is False
    assert len(kept["sea.com"].validation_notes["judge_scores"]) == 6
    domain = await domains.get(database, "alder.org")
    assert (domain.processing, domain.status) == ("processed_high_quality", "pending_review")
    assert domain.submitter_type == "system"
    assert "Confidence" in (domain.submission_context or "")
    assert domain.best_confidence_score == kept["alder.org"].confidence_score
    assert (await domains.get(database, "sea.com")).low_quality_candidate_count == 1
    found = await listed(SESSIONS, database, vertical="funding")
    assert [(one.id, one.state) for one in found] == [(session_id, "finished")]
    assert found[0].statistics == figures
    judgements = await database.fetchval("SELECT count(*) FROM messor.judgements")
    assert judgements == 12


async def test_three_poor_results_close_a_domain(database: Database, apply: Apply) -> None:
    applied = await apply("funding")
    pages = [result("sea.com", *POOR, path=f"/{n}") for n in range(5)]
    await run(database, applied, pages[0])
    _, stats = await run(database, applied, *pages[:2])
    assert (await domains.get(database, "sea.com")).processing == "processing"
    _, stats = await run(database, applied, *pages[2:])
    assert (stats.skipped_low_confidence, stats.skipped_domain_already_processed) == (1, 2)
    assert (await domains.get(database, "sea.com")).processing == "processed_low_quality"


async def test_a_good_result_counts_before_three_poor_ones(
    database: Database, apply: Apply
) -> None:
    applied = await apply("funding")
    pages = [result("alder.org", *POOR, path=f"/{n}") for n in range(4)]
    _, stats = await run(database, applied, *pages, result("alder.org", *GOOD))
    assert stats.candidates_created == 1


async def test_what_is_blacklisted_or_rejected_is_passed_over(
    database: Database, apply: Apply
) -> None:
    applied = await apply("funding")
    for name, status in (("bad.org", "blacklisted"), ("no.org", "rejected")):
        async with database.transaction() as connection:
            made, _ = await domains.submit(connection, Submission.understand(name), actor="test")
            await domains.move(connection, made, status, actor="test", reason="spam")
    _, stats = await run(database, applied, result("bad.org", *GOOD), result("no.org", *GOOD))
    assert (stats.skipped_blacklisted, stats.skipped_domain_already_processed) == (1, 1)
    assert (await domains.get(database, "no.org")).status == "rejected"
    assert await database.fetchval("SELECT count(*) FROM messor.candidates") == 0


async def test_an_erased_domain_is_not_taken_up(database: Database, apply: Apply) -> None:
    applied = await apply("funding")
    await database.fetch(
        "INSERT INTO messor.erasures (id, kind, key, reason, erased_by)"
        " VALUES (gen_random_uuid(), 'domain', 'gone.org', 'asked', 'test')"
    )
    _, stats = await run(database, applied, result("gone.org", *GOOD))
    assert stats.skipped_blacklisted == 1
    assert await database.fetchval("SELECT count(*) FROM messor.domains") == 0


async def test_a_session_that_runs_again_keeps_nothing_twice(
    database: Database, apply: Apply
) -> None:
    applied = await apply("funding")
    async with database.transaction() as connection:
        session_id = await discovery.begin(connection, applied, actor="test")
    work = Discovery(database, applied, session_id, Panel(applied.vertical, now=lambda: NOW))
    pages = [result("alder.org", *GOOD), result("sea.com", *POOR)]
    await work.process(pages)
    await work.process(pages)
    assert await database.fetchval("SELECT count(*) FROM messor.candidates") == 2
    assert (await domains.get(database, "sea.com")).low_quality_candidate_count == 1


async def one_candidate(database: Database, applied: Applied) -> Candidate:
    await run(database, applied, result("alder.org", *GOOD))
    return (await listed(CANDIDATES, database))[0]


async def test_a_candidate_takes_the_steps_of_its_life(database: Database, apply: Apply) -> None:
    one = await one_candidate(database, await apply("funding"))
    async with database.transaction() as connection:
        with pytest.raises(ConflictError, match="can become PENDING_REVIEW, not APPROVED"):
            await candidates.approve(connection, one, actor="test")
        one = await candidates.crawled(connection, one, actor="system")
        one = await candidates.assign(connection, one, "ada", actor="ada")
        with pytest.raises(UsageError, match="Give a reason for the rejection"):
            await candidates.reject(connection, one, actor="ada", reason=" ")
        done = await candidates.reject(connection, one, actor="ada", reason="a loan")
        assert (done.status, done.reviewed_by, done.review_reason) == ("REJECTED", "ada", "a loan")
        with pytest.raises(ConflictError, match="can become nothing"):
            await candidates.approve(connection, done, actor="ada")


async def test_phase_two_waits_for_the_domain(database: Database, apply: Apply) -> None:
    await one_candidate(database, await apply("funding"))
    assert await candidates.ready_to_crawl(database) == []
    async with database.transaction() as connection:
        await domains.move(
            connection, await domains.get(connection, "alder.org"), "approved", actor="t"
        )
    assert [one.domain for one in await candidates.ready_to_crawl(database, "funding")] == [
        "alder.org"
    ]


@pytest.mark.parametrize(
    "change",
    [
        "status = 'SKIPPED_LOW_CONFIDENCE'",
        "confidence_score = 0.59",
        "confidence_score = 1.01",
        "status = 'APPROVED', reviewed_at = messor.clock()",
        "status = 'IN_REVIEW'",
        "status = 'DONE'",
        "domain = 'Alder.org'",
        "position = 0",
    ],
)
async def test_the_table_keeps_the_rules(database: Database, apply: Apply, change: str) -> None:
    await one_candidate(database, await apply("funding"))
    with pytest.raises(asyncpg.CheckViolationError):
        await database.fetch(f"UPDATE messor.candidates SET {change}")


TRUTH = {
    "wellness": {"clinic"},
    "products": {"shop"},
    "community_resources": {"relief"},
    "funding": {"foundation"},
    "business_profiles": {"restaurant", "firm"},
}


@pytest.mark.parametrize("name", ["funding", "wellness"])
async def test_a_vertical_explores_the_simulated_web(
    database: Database, apply: Apply, bench: Bench, name: str
) -> None:
    applied = await apply(name)
    profile = next(iter(applied.vertical.profiles))
    await keywords.write(database, applied, [profile], actor="test")
    stand_in, hired = await bench.hire("serper")
    searcher = Searcher(database, [hired])
    done = await explore.explore(database, searcher, applied, actor="test", limit=60)
    assert done.searches == {"answered": 60}
    assert stand_in.searches == done.paid_for == 60
    assert done.statistics["failures"] == 0
    kinds = {site.domain: site.kind for site in bench.index._world.sites}
    rows = await database.fetch(
        "SELECT DISTINCT domain FROM messor.serp_results WHERE block_type = 'organic'"
    )
    reachable = {row["domain"] for row in rows if kinds[row["domain"]] in TRUTH[name]}
    taken = {one.domain for one in await listed(CANDIDATES, database, status="PENDING_CRAWL")}
    assert reachable
    assert taken == reachable
    # The next sixty are others, and what was found is not found again.
    again = await explore.explore(database, searcher, applied, actor="test", limit=5)
    assert again.statistics["candidates_created"] == len(
        {one.domain for one in await listed(CANDIDATES, database, status="PENDING_CRAWL")} - taken
    )


async def test_pages_of_a_session_that_died_are_judged_by_the_next(
    database: Database, apply: Apply, bench: Bench
) -> None:
    applied = await apply("funding")
    await keywords.write(database, applied, ["us-desktop"], actor="test")
    stand_in, hired = await bench.hire("serper")
    searcher = Searcher(database, [hired])
    # Dies after the searches, before anything was judged.
    for item in await track.due(database, applied.id, 10):
        await searcher.search(item.wanted)
    async with database.transaction() as connection:
        await discovery.begin(connection, applied, actor="test")
    await database.fetch(
        "UPDATE messor.discovery_sessions SET started_at = started_at - interval '1 day'"
    )
    done = await explore.explore(database, Searcher(database, []), applied, actor="test", limit=1)
    assert done.pages == 10
    assert done.statistics["candidates_created"] > 0
    assert stand_in.searches == 10
    states = [one.state for one in await listed(SESSIONS, database)]
    assert states == ["finished", "failed"]
    again = await explore.explore(database, Searcher(database, []), applied, actor="test", limit=1)
    assert (again.pages, again.statistics["total_processed"]) == (0, 0)
