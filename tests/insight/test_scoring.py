"""Scores: parts that add up, levels that follow, what other weights would do, and calibration."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from messor.core.ids import new_id
from messor.errors import NotFoundError, UsageError
from messor.frontier import cadence, task_queries, tasks
from messor.insight import calibration, scores, scoring
from messor.insight.scores import SubjectFacts, checked_weights, level_of, score
from messor.schedule.daily import DAILY
from messor.schedule.standard import SCORE
from messor.store.database import Database
from messor.verticals import files, verticals
from messor.verticals.verticals import Applied
from tests.insight.making import apply_vertical, make_keyword, make_serp, make_site, own
from tests.listed import listed
from tests.schedule.sites import due_in, make_host, make_pages, run_steps

EQUAL = dict.fromkeys(scores.MEASURES, 1.0)
FULL = SubjectFacts(
    pages=10, changed=5, extracted=10, yielding=2, records=4, confidence=3.2, risk=20.0,
    good_fetches=10, cost=0.05, visibility=0.3, leader=0.6,
)  # fmt: skip


def test_a_score_is_the_sum_of_its_parts() -> None:
    found = score(FULL, EQUAL)
    assert found is not None
    values = {part.name: part.value for part in found.parts}
    assert values == pytest.approx(
        {"visibility": 0.5, "content_change": 0.5, "record_yield": 0.2, "quality": 0.8,
         "friction": 0.8, "cost": 0.5}
    )  # fmt: skip
    assert found.value == pytest.approx(sum(part.contribution for part in found.parts))
    assert found.value == pytest.approx(3.3 / 6)
    assert found.level == "B"
    assert all(part.sentence for part in found.parts)


def test_what_is_not_known_takes_no_part() -> None:
    found = score(SubjectFacts(risk=0.0), EQUAL)
    assert found is not None
    assert (found.value, found.level) == (1.0, "A")
    assert [part.name for part in found.parts if part.value is not None] == ["friction"]
    assert score(SubjectFacts(), EQUAL) is None


@pytest.mark.parametrize(
    "value, level",
    [(1, "A"), (0.65, "A"), (0.64, "B"), (0.45, "B"), (0.25, "C"), (0.2, "D"), (0, "D")],
)
def test_levels(value: float, level: str) -> None:
    assert level_of(value) == level


def test_weights_are_checked() -> None:
    assert checked_weights({"cost": 2.0}, EQUAL) == {**EQUAL, "cost": 2.0}
    for given, said in (
        ({"beauty": 1.0}, "Unknown score component"),
        ({"cost": -1.0}, "between 0 and 100"),
    ):
        with pytest.raises(UsageError, match=said):
            checked_weights(given, EQUAL)
    with pytest.raises(UsageError, match="must exceed 0"):
        checked_weights(dict.fromkeys(EQUAL, 0.0), EQUAL)


async def intervals(database: Database) -> dict[str, timedelta]:
    rows = await database.fetch(
        "SELECT domain, track_interval FROM messor.domains WHERE track_level IS NOT NULL"
    )
    return {row["domain"]: row["track_interval"] for row in rows}


async def change_cadence(database: Database, name: str, version: int, every: str) -> Applied:
    """Apply a vertical whose level A is crawled as often as given."""
    source = files.shipped(name).source
    source = re.sub(r"(?m)^version = \d+", f"version = {version}", source)
    source = source.replace('A = "daily"', f'A = "{every}"')
    async with database.transaction() as connection:
        file = files.understand(source, f"{name}.toml")
        applied, _ = await verticals.apply(connection, file, actor="test")
    return applied


async def test_a_verticals_cadence_decides_when_pages_are_crawled(database: Database) -> None:
    """Score, level, interval, due time: with a changed file from the next O-Daily on."""
    applied = await change_cadence(database, "wellness", 100, "weekly")
    host_id, _ = await make_host(database, "good.test")
    (page_id,) = await make_pages(database, host_id, done=timedelta(days=2))
    await own(database, applied, "Good", "good.test")
    await database.fetch("UPDATE messor.hosts SET last_request_at = messor.clock()")
    assert (await run_steps(database, SCORE))["levels_changed"] == 1
    assert await intervals(database) == {"good.test": timedelta(days=7)}
    await run_steps(database, DAILY)
    assert await due_in(database, page_id) == 1200  # not due for five days

    await change_cadence(database, "wellness", 101, "hourly")
    await run_steps(database, DAILY)
    assert await intervals(database) == {"good.test": timedelta(hours=1)}
    assert await due_in(database, page_id) == 0
    (task,) = (await tasks.due(database, [host_id], 10, 0.0))[host_id]
    assert cadence.frequency(task, None) == 3600
    (known,) = await listed(task_queries.TASKS, database)
    assert "every 1 h (track level A)" in known.rhythm

    # Of several verticals the shortest applies; a level nobody scored keeps its usual interval.
    other = await change_cadence(database, "funding", 100, "monthly")
    await own(database, other, "Good", "good.test")
    await run_steps(database, SCORE)
    assert await intervals(database) == {"good.test": timedelta(hours=1)}
    await make_host(database, "by-hand.test", level="A")
    await run_steps(database, DAILY)
    assert (await intervals(database))["by-hand.test"] is None


async def test_domains_get_their_levels_and_organisations_their_scores(database: Database) -> None:
    applied = await apply_vertical(database)
    good, poor = await make_site(database, "good.test"), await make_site(database, "poor.test")
    await make_site(database, "waiting.test", status="pending_review")
    await own(database, applied, "Good", "good.test")
    await own(database, applied, "Poor", "poor.test", "waiting.test")
    page = await good.page("text")
    await good.record(page, "service", 0.9, name="botox")
    await good.record(page, "product", 0.1, name="not of this vertical")
    await poor.page("text")
    await database.fetch(
        "UPDATE messor.hosts SET risk_score = 80, risk_at = messor.clock() WHERE host = 'poor.test'"
    )
    await database.fetch(
        "INSERT INTO messor.page_changes VALUES ($1, messor.clock() - interval '1 day', 1, 'changed')",
        page[0],
    )
    keyword = await make_keyword(database, applied, "botox", "A")
    now = await database.fetchval("SELECT messor.clock()")
    await make_serp(database, keyword, now - timedelta(days=1), [(1, "organic", "good.test")])

    counts = await run_steps(database, SCORE)
    assert (counts["domains_scored"], counts["organisations_scored"]) == (2, 2)
    assert (counts["levels_changed"], counts["domains_unknown"]) == (2, 0)
    rows = await database.fetch(
        "SELECT domain, track_level FROM messor.domains WHERE track_level IS NOT NULL ORDER BY 1"
    )
    assert [tuple(row) for row in rows] == [("good.test", "A"), ("poor.test", "D")]
    (shown,) = await scoring.show(database, "good.test")
    values = {part["name"]: part["value"] for part in shown["parts"]}
    assert values == {
        "visibility": 1.0, "content_change": 1.0, "record_yield": 1.0,
        "quality": pytest.approx(0.9), "friction": 1.0, "cost": None,
    }  # fmt: skip
    assert shown["score"] == pytest.approx((0.35 + 0.15 + 0.2 + 0.15 * 0.9 + 0.1) / 0.95)
    (of_poor,) = await scoring.show(database, "poor.test")
    assert of_poor["score"] == pytest.approx(0.1 * 0.2 / (0.35 + 0.15 + 0.2 + 0.1), rel=1e-3)
    (owner,) = await scoring.show(database, "GOOD")
    assert (owner["subject"], owner["score"]) == ("organisation", shown["score"])
    events = await database.fetch(
        "SELECT data FROM messor.events WHERE type = 'domain.track_level_changed'"
    )
    assert len(events) == 2
    assert (await run_steps(database, SCORE))["levels_changed"] == 0

    # What a level means is the cadence of the vertical.
    assert (SCORE.cadence, await intervals(database)) == (
        "0 5 * * mon",
        {"good.test": timedelta(days=1), "poor.test": timedelta(days=91)},
    )

    async with database.transaction() as connection:
        tried = await scoring.simulate(connection, applied, {"friction": 0.0, "visibility": 100.0})
        other = await scoring.simulate(
            connection, applied, {**dict.fromkeys(EQUAL, 0.0), "friction": 1.0}
        )
    assert [(one.domain, one.level_then) for one in tried.rows] == [
        ("good.test", "A"),
        ("poor.test", "D"),
    ]
    assert tried.changed == []
    assert tried.looks_per_day_now == pytest.approx(1 + 1 / 91)
    assert {one.domain: one.score_then for one in other.rows}["poor.test"] == pytest.approx(
        0.2, rel=1e-3
    )
    with pytest.raises(NotFoundError, match="neither"):
        await scoring.show(database, "nobody.test")
    with pytest.raises(NotFoundError, match="no score yet"):
        await scoring.show(database, "waiting.test")


def test_calibration_of_one_judge() -> None:
    pairs = (
        [(0.9, True)] * 9 + [(0.9, False)] + [(0.7, False)] * 5 + [(0.3, True)] + [(0.1, False)] * 4
    )
    found = calibration.measure("keyword", pairs)
    assert (found.decisions, found.approved) == (20, 10)
    assert found.precision == pytest.approx(9 / 15)
    assert found.recall == pytest.approx(0.9)
    brier = (9 * 0.01 + 0.81 + 5 * 0.49 + 0.49 + 4 * 0.01) / 20
    assert found.brier == pytest.approx(brier)
    assert found.suggested == 0.9
    assert calibration.measure("few", pairs[:5]).suggested is None
    assert "All decisions are the same" in calibration.measure("same", [(0.5, True)] * 30).sentence
    vague = [(0.5, True), (0.5, False)] * 15
    assert "is the best balance" in calibration.measure("vague", vague).sentence


async def test_judges_are_held_against_reviewers(database: Database) -> None:
    applied = await apply_vertical(database, "funding")
    session = new_id()
    await database.fetch(
        """INSERT INTO messor.discovery_sessions (id, vertical_id, vertical_version, started_by)
           VALUES ($1, $2, 1, 'test')""",
        session,
        applied.id,
    )
    for number, (status, said) in enumerate(
        [("APPROVED", 0.9), ("REJECTED", 0.8), ("PENDING_REVIEW", 0.7)]
    ):
        await database.fetch(
            """WITH c AS (INSERT INTO messor.candidates (id, session_id, vertical_id, domain, url,
                 url_hash, search_engine, search_query, position, confidence_score, status,
                 validation_notes, reviewed_at, review_reason)
               VALUES ($1, $2, $3, 'a.test', 'u', sha256($6::text::bytea), 'e', 'q', 1, $5, $4, '{}',
                 CASE WHEN $4 <> 'PENDING_REVIEW' THEN messor.clock() END, 'because') RETURNING id)
               INSERT INTO messor.judgements SELECT id, 'keyword', 0.5, 1, 'said' FROM c""",
            new_id(),
            session,
            applied.id,
            status,
            said,
            str(number),
        )
    found = {one.what: one for one in await calibration.calibrate(database, applied)}
    assert set(found) == {"confidence", "keyword"}
    assert (found["confidence"].decisions, found["confidence"].precision) == (2, 0.5)
    assert found["confidence"].brier == pytest.approx((0.01 + 0.64) / 2)
    assert (found["keyword"].precision, found["keyword"].recall) == (None, 0.0)
