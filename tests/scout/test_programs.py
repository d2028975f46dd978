"""Programs are what a funding vertical finds, domains are the gate; and what is kept of each."""

from __future__ import annotations

import asyncio
import json
import logging
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from messor.governance import rest
from messor.registry import domains, notes
from messor.scout import candidates, discovery
from messor.scout.candidate_queries import CANDIDATES
from messor.scout.discovery import Discovery, ProcessingStats
from messor.scout.judges.model import Judgement, JudgeScore, SearchResult
from messor.scout.judges.panel import Panel
from messor.scout.words import stem
from messor.store.database import Database
from messor.verticals import files
from messor.verticals.verticals import Applied
from tests.crawling import TESTER, later
from tests.listed import listed
from tests.scout.conftest import Apply
from tests.scout.test_discovery import NOW, POOR, result, run

CALL = "Apply for funding: eligible charities, deadline March 2027."
SMALL = ("Small grants fund | Alder Foundation", CALL)
RESEARCH = ("Research fellowship | Alder Foundation", CALL)


class FixedPanel(Panel):
    """Judges every result with a confidence that its snippet states."""

    def judge(self, result: SearchResult) -> Judgement:
        said = float(result.snippet)
        score = JudgeScore("keyword", said, 1.0, "as told")
        return Judgement(said, result.domain, (score,), "as told", None, None)


async def judged(
    database: Database, applied: Applied, *confidences: float, panel: Panel | None = None
) -> tuple[UUID, ProcessingStats]:
    """A session of results with given confidences, each of a domain of its own."""
    async with database.transaction() as connection:
        session_id = await discovery.begin(connection, applied, actor="test")
    found = [
        result(f"d{n}.example", f"Page {n}", str(confidence), position=n + 1)
        for n, confidence in enumerate(confidences)
    ]
    stats = await Discovery(
        database, applied, session_id, panel or FixedPanel(applied.vertical)
    ).process(found)
    async with database.transaction() as connection:
        await discovery.end(connection, session_id, stats)
    return session_id, stats


async def kept(database: Database) -> dict[str, str]:
    """Programs that wait for their crawl, by path."""
    found = await listed(CANDIDATES, database, status="PENDING_CRAWL")
    return {one.url.partition(".org")[2]: one.program_name or "" for one in found}


# The program is the unit, the domain the gate ----------------------------------------------------


async def test_each_program_of_a_funder_is_a_candidate(database: Database, apply: Apply) -> None:
    applied = await apply("funding")
    _, stats = await run(
        database,
        applied,
        result("alder.org", *SMALL, path="/small"),
        result("alder.org", *RESEARCH, path="/research"),
        result("alder.org", *SMALL, path="/small?print=1"),
        result("alder.org", "Contact | Alder Foundation", CALL, path="/contact"),
        result("alder.org", "News | Alder Foundation", CALL, path="/news"),
    )
    assert stats.candidates_created == 3, "two programs, and one page that names none"
    assert stats.skipped_domain_already_processed == 2
    names = await kept(database)
    assert names["/small"] == "Small grants fund"
    assert names["/research"] == "Research fellowship"
    _, again = await run(
        database,
        applied,
        result("alder.org", *SMALL, path="/small"),
        result("alder.org", "Climate fund 2027 | Alder Foundation", CALL, path="/climate"),
    )
    assert (again.candidates_created, again.skipped_domain_already_processed) == (1, 1)


async def test_where_the_domain_is_the_unit_it_is_found_once(
    database: Database, apply: Apply
) -> None:
    applied = await apply("wellness")
    said = "Our clinic in Novena offers facials and laser treatment; book an appointment."
    _, stats = await run(
        database,
        applied,
        result("glow.sg", "Facial treatment | Glow Clinic", said, path="/facial"),
        result("glow.sg", "Laser treatment | Glow Clinic", said, path="/laser"),
    )
    assert (stats.candidates_created, stats.skipped_domain_already_processed) == (1, 1)


@pytest.mark.parametrize("state", ["blacklisted", "rejected", "no_funds_this_year"])
async def test_a_closed_domain_lets_no_program_through(
    database: Database, apply: Apply, state: str
) -> None:
    applied = await apply("funding")
    await run(database, applied, result("alder.org", *SMALL, path="/small"))
    async with database.transaction() as connection:
        domain = await domains.get(connection, "alder.org")
        if state == "no_funds_this_year":
            await rest.no_funds(connection, domain, datetime.now(UTC).year, actor=TESTER)
        else:
            await domains.move(connection, domain, state, actor=TESTER, reason="because")
    _, stats = await run(database, applied, result("alder.org", *RESEARCH, path="/research"))
    assert stats.candidates_created == 0


async def test_a_new_year_finds_the_new_call(dsn: str, database: Database, apply: Apply) -> None:
    """No funds this year; in January the domain returns by itself, and its call is found anew."""
    applied = await apply("funding")
    call = result("alder.org", *SMALL, path="/small")
    await run(database, applied, call)
    (one,) = await listed(CANDIDATES, database, status="PENDING_CRAWL")
    async with database.transaction() as connection:
        read = await candidates.crawled(connection, one, actor="system")
        taken = await candidates.assign(connection, read, "ann", actor="ann")
        await candidates.approve(connection, taken, actor="ann")
        domain = await domains.get(connection, "alder.org")
        await rest.no_funds(connection, domain, datetime.now(UTC).year, actor=TESTER)
    new_year = datetime(datetime.now(UTC).year + 1, 1, 2, tzinfo=UTC)
    async with Database(later(dsn, new_year - datetime.now(UTC))) as january:
        async with january.transaction() as connection:
            assert await rest.return_rested(connection) == 1
        _, stats = await run(january, applied, call)
        assert stats.candidates_created == 1
        _, again = await run(january, applied, call)
        assert (again.candidates_created, again.skipped_domain_already_processed) == (0, 1)
        domain = await domains.get(january, "alder.org")
    assert (domain.processing, domain.high_quality_candidate_count) == ("processed_high_quality", 2)


async def test_what_was_rejected_returns_only_with_another_text(
    dsn: str, database: Database, apply: Apply
) -> None:
    applied = await apply("funding")
    call = result("alder.org", *SMALL, path="/small")
    await run(database, applied, call)
    (one,) = await listed(CANDIDATES, database, status="PENDING_CRAWL")
    async with database.transaction() as connection:
        read = await candidates.crawled(connection, one, actor="system")
        taken = await candidates.assign(connection, read, "ann", actor="ann")
        await candidates.reject(connection, taken, actor="ann", reason="closed")
    async with Database(later(dsn, timedelta(days=366))) as year_after:
        _, same = await run(year_after, applied, call)
        _, changed = await run(
            year_after, applied, result("alder.org", SMALL[0], f"{CALL} New call.", path="/small")
        )
    assert (same.candidates_created, changed.candidates_created) == (0, 1)


# What is kept ------------------------------------------------------------------------------------


async def test_a_domain_keeps_the_session_that_found_it_first(
    database: Database, apply: Apply
) -> None:
    applied = await apply("funding")
    before = datetime.now(UTC)
    first, _ = await run(database, applied, result("alder.org", *SMALL, path="/small"))
    found_by = datetime.now(UTC)
    second, _ = await run(database, applied, result("alder.org", *RESEARCH, path="/research"))
    row = await database.fetchrow("SELECT * FROM funding.domain WHERE domain_name = 'alder.org'")
    assert row is not None
    assert first != second
    assert row["discovery_session_id"] == first
    assert before <= row["discovered_at"] <= found_by


async def test_notes_are_shown_in_order(database: Database, apply: Apply) -> None:
    applied = await apply("funding")
    await run(database, applied, result("alder.org", *SMALL))
    domain = await domains.get(database, "alder.org")
    for text in ("first", "second"):
        async with database.transaction() as connection:
            await notes.add(connection, domain, text, actor=TESTER)
        await asyncio.sleep(0)
    for view in ("messor.domain", "funding.domain"):
        assert await database.fetchval(f"SELECT notes FROM {view}") == "first\nsecond"


async def test_a_candidate_belongs_to_its_domain_and_outlives_it(
    database: Database, apply: Apply
) -> None:
    applied = await apply("funding")
    await run(database, applied, result("alder.org", *SMALL))
    domain = await domains.get(database, "alder.org")
    view = "SELECT domain_id, status FROM funding.funding_source_candidate"
    row = await database.fetchrow(view)
    assert row is not None
    assert (row["domain_id"], row["status"]) == (domain.id, "PENDING_CRAWL")
    await database.fetch("DELETE FROM messor.domains")
    row = await database.fetchrow(view)
    assert row is not None
    assert row["domain_id"] is None


async def test_a_candidate_keeps_what_the_engine_said(database: Database, apply: Apply) -> None:
    applied = await apply("funding")
    await run(database, applied, result("alder.org", *SMALL, path="/small", position=4))
    row = await database.fetchrow("SELECT * FROM funding.funding_source_candidate")
    assert row is not None
    fields = ("url", "title", "snippet", "search_engine", "search_query", "position")
    assert tuple(row[name] for name in fields) == (
        "https://alder.org/small", *SMALL, "serper", "research grant", 4,
    )  # fmt: skip
    assert (row["organization_name"], row["program_name"]) == (
        "Alder Foundation",
        "Small grants fund",
    )


@pytest.mark.parametrize("change", ["position = 0", "position = -1"])
async def test_positions_count_from_one(database: Database, apply: Apply, change: str) -> None:
    await judged(database, await apply("funding"), 0.9)
    with pytest.raises(asyncpg.CheckViolationError):
        await database.fetch(f"UPDATE messor.candidates SET {change}")
    await database.fetch("UPDATE messor.candidates SET position = 1")


async def test_a_candidate_has_one_of_six_statuses(database: Database, apply: Apply) -> None:
    await judged(database, await apply("funding"), 0.9)
    accepted = []
    for status in (
        "NEW", "APPROVED", "IN_REVIEW", "PENDING_CRAWL", "PENDING_REVIEW", "REJECTED",
        "SKIPPED_LOW_CONFIDENCE", "pending_crawl",
    ):  # fmt: skip
        try:
            await database.fetch(
                """INSERT INTO messor.candidates (id, session_id, vertical_id, domain, url, url_hash,
                     search_engine, search_query, position, confidence_score, status,
                     validation_notes, assigned_to, reviewed_at, review_reason)
                   SELECT gen_random_uuid(), session_id, vertical_id, domain, url,
                          sha256($1::text::bytea), 'e', 'q', 1,
                          CASE WHEN $1 = 'SKIPPED_LOW_CONFIDENCE' THEN 0.5 ELSE 0.9 END, $1, '{}', 'x',
                          CASE WHEN $1 IN ('APPROVED', 'REJECTED') THEN messor.clock() END, 'because'
                     FROM messor.candidates WHERE url LIKE 'https://d0%' LIMIT 1""",
                status,
            )
            accepted.append(status)
        except asyncpg.CheckViolationError:
            continue
    assert accepted == [
        "APPROVED", "IN_REVIEW", "PENDING_CRAWL", "PENDING_REVIEW", "REJECTED",
        "SKIPPED_LOW_CONFIDENCE",
    ]  # fmt: skip


def test_a_judge_without_a_weight_counts_once() -> None:
    vertical = files.shipped("funding").vertical
    weights = {name: w for name, w in vertical.judges.items() if name != "keyword"}
    panel = Panel(vertical.model_copy(update={"judges": weights}), now=lambda: NOW)
    scores = panel.judge(result("alder.org", *SMALL)).judge_scores
    assert {s.judge_name: s.weight for s in scores}["keyword"] == 1.0


# Figures of a session ----------------------------------------------------------------------------


async def test_confidences_are_those_of_created_candidates(
    database: Database, apply: Apply
) -> None:
    _, stats = await judged(database, await apply("funding"), 0.9, 0.65, 0.7, 0.1)
    figures = stats.summary()
    assert figures["candidates_created"] == 3
    assert figures["average_confidence"] == 0.75
    assert (figures["max_confidence"], figures["min_confidence"]) == (0.9, 0.65)
    _, none = await judged(database, await apply("wellness"), 0.1)
    assert none.summary()["average_confidence"] is None


async def test_time_is_counted_in_milliseconds(
    database: Database, apply: Apply, monkeypatch: pytest.MonkeyPatch
) -> None:
    applied = await apply("funding")
    async with database.transaction() as connection:
        session_id = await discovery.begin(connection, applied, actor="test")
    moments = iter([100.0, 101.5])
    stopwatch = SimpleNamespace(monotonic=lambda: next(moments))
    monkeypatch.setattr("messor.scout.discovery.time", stopwatch)
    stats = await Discovery(database, applied, session_id, Panel(applied.vertical)).process([])
    assert stats.processing_time_ms == 1_500


async def test_a_session_says_its_figures_in_log_and_event(
    database: Database, apply: Apply, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "messor.scout"):
        session_id, stats = await judged(database, await apply("funding"), 0.9, 0.1)
    figures = stats.summary()
    told = await database.fetchval(
        "SELECT data FROM messor.events WHERE type = 'discovery.finished'"
    )
    assert json.loads(told) == {"session": str(session_id), "state": "finished", **figures}
    assert any(str(figures) in record.message for record in caplog.records)


async def test_candidates_go_with_their_session(database: Database, apply: Apply) -> None:
    await judged(database, await apply("funding"), 0.9, 0.8)
    assert await database.fetchval("SELECT count(*) FROM messor.candidates") == 2
    await database.fetch("DELETE FROM messor.discovery_sessions")
    assert await database.fetchval("SELECT count(*) FROM messor.candidates") == 0


# The threshold, and decisions --------------------------------------------------------------------


async def test_the_threshold_belongs_to_the_crawl(database: Database, apply: Apply) -> None:
    await judged(database, await apply("funding"), 0.6, 0.5999)
    rows = await database.fetch(
        "SELECT confidence_score, status FROM messor.candidates ORDER BY confidence_score"
    )
    assert [tuple(row) for row in rows] == [
        (0.5999, "SKIPPED_LOW_CONFIDENCE"),
        (0.6, "PENDING_CRAWL"),
    ]
    score = (JudgeScore("keyword", 0.6, 1.0, "as told"),)
    assert Judgement(0.6, "a.org", score, "", None, None).should_crawl
    assert not Judgement(0.5999, "a.org", score, "", None, None).should_crawl


@pytest.mark.parametrize(
    "before, after",
    [
        ("PENDING_CRAWL", {"PENDING_REVIEW"}),
        ("PENDING_REVIEW", {"IN_REVIEW"}),
        ("IN_REVIEW", {"APPROVED", "REJECTED"}),
        ("APPROVED", set()),
        ("REJECTED", set()),
        ("SKIPPED_LOW_CONFIDENCE", set()),
    ],
)
def test_a_candidate_may_take_no_other_step(
    before: candidates.CandidateStatus, after: set[str]
) -> None:
    assert candidates.TRANSITIONS[before] == after


async def test_a_decision_about_a_candidate_is_final_in_the_table(
    database: Database, apply: Apply
) -> None:
    await judged(database, await apply("funding"), 0.9)
    (one,) = await listed(CANDIDATES, database)
    async with database.transaction() as connection:
        read = await candidates.crawled(connection, one, actor="system")
        taken = await candidates.assign(connection, read, "ann", actor="ann")
        await candidates.approve(connection, taken, actor="ann")
    for status in ("REJECTED", "IN_REVIEW", "PENDING_REVIEW", "PENDING_CRAWL"):
        with pytest.raises(asyncpg.CheckViolationError):
            await database.fetch(
                "UPDATE messor.candidates SET status = $1, review_reason = 'x'", status
            )


# How well judges tell programs from what is written about them -----------------------------------

PROGRAMS: list[tuple[str, str, str]] = [
    # A state's programs in its own language.
    ("ncf.bg", "Програма Публики | Национален фонд Култура", "Кандидатстване по програма за финансиране на културни проекти. Краен срок: 15 декември 2026."),
    ("mon.bg", "Национална програма за стипендии 2026 - Министерство на образованието", "Стипендии за ученици и студенти. Условия за кандидатстване и срок за подаване на документи."),
    ("opic.bg", "Процедура за безвъзмездна финансова помощ за малки предприятия", "Министерството обявява прием на проектни предложения."),
    ("fni.bg", "Конкурс за финансиране на фундаментални научни изследвания | Фонд Научни изследвания", "Насоки за кандидатстване, бюджет и краен срок за подаване на проекти."),
    ("sofia.bg", "Програма за младежки дейности | Столична община", "Финансиране на проекти на младежки организации до 10 000 лв. Кандидатствайте до 30 март 2027."),
    ("land-foerderung.de", "Förderprogramm Kultur 2027 | Landesstiftung", "Anträge bis 31. März 2027, gefördert werden gemeinnützige Vorhaben."),
    ("ville-fondation.fr", "Appel à projets 2027 | Fondation de la Ville", "Déposez votre candidature avant la date limite du 1er mars 2027; soutien aux associations."),
    ("alder.org", "Small grants fund | Alder Foundation", "Charities may apply for up to £5,000; the deadline is 1 March 2027."),
    ("lorimer.org", "Lorimer Prize for young scientists | Lorimer Trust", "The prize is awarded each June; nominations close on 1 March 2027. Reports are due a year after receiving the funds."),
    ("ardent.edu", "Early career award | Ardent University", "Applicants need a doctorate; awards are made each June and winners are announced in May."),
]  # fmt: skip
OTHERS: list[tuple[str, str, str]] = [
    # Stories about a grant.
    ("localvoice.com", "Local school wins £50,000 grant from Alder Foundation", "The school was awarded a grant by the Alder Foundation on Tuesday. Headteacher Jane Smith said the funding will help."),
    ("hillside.com", "Village hall receives £20,000 from community fund", "The committee has received the grant after two years, the chair told reporters."),
    ("riverside.net", "Scientists have won research prize worth 1m", "The team was given the award for its work, the university announced on Monday."),
    ("alder.org", "Alder Foundation awards £2m in research grants", "The foundation announced today that twelve projects have won funding."),
    ("citytoday.com", "New arts grant announced by council", "The council has announced a new fund for arts groups, officials said on Monday."),
    ("wxyz.com", "Nonprofit lands grant funding to expand youth services | WXYZ", "A local nonprofit is expanding its youth programs after landing a federal grant worth $1.2 million."),
    ("springtown.net", "Library landed a grant for its reading rooms", "The library opens longer after receiving money from the arts fund."),
    ("dnevnik.bg", "Министърът обяви нова програма за стипендии | Дневник", "Правителството ще отпусне 5 млн. лв., съобщиха от министерството в понеделник."),
    ("plovdiv-novini.bg", "Училище спечели финансиране по национална програма", "Училището получи 50 000 лв., съобщиха вчера."),
    # A word is not a program.
    ("something.org", "Grants", ""),
    ("something.org", "Funding", "Grants"),
    ("something.org", "Стипендии", ""),
    ("hartfoundation.org", "Grants", "Grants"),
    ("hartfoundation.org", "Grants", ""),
    ("recepti.bg", "Рецепта за баница", "Лесна рецепта за домашна баница със сирене."),
]  # fmt: skip


def confidence(domain: str, title: str, snippet: str) -> Judgement:
    panel = Panel(files.shipped("funding").vertical, now=lambda: NOW)
    return panel.judge(result(domain, title, snippet))


@pytest.mark.parametrize("one", PROGRAMS, ids=lambda one: one[0])
def test_a_program_is_taken_in_the_languages_of_its_vertical(one: tuple[str, str, str]) -> None:
    judgement = confidence(*one)
    assert judgement.should_crawl, judgement.reasoning


@pytest.mark.parametrize(
    "forms",
    [
        ("стипендия", "стипендии", "стипендията", "стипендиите"),
        ("програма", "програми", "програмата", "програмите"),
        ("фонд", "фонда", "фондът", "фондове", "фондовете"),
        ("министерство", "министерството", "министерства"),
        ("grant", "grants"),
    ],
)
def test_a_word_is_found_in_all_its_forms(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize("one", OTHERS, ids=lambda one: f"{one[0]}-{one[1][:12]}")
def test_a_story_or_a_word_is_no_program(one: tuple[str, str, str]) -> None:
    judgement = confidence(*one)
    assert not judgement.should_crawl, judgement.reasoning


@pytest.mark.parametrize(
    "domain, title, organisation, program",
    [
        ("alder.org", "Small grants | Alder Foundation", "Alder Foundation", "Small grants"),
        ("alder.org", "Alder Trust - Small Grants Fund", "Alder Trust", "Small Grants Fund"),
        ("cleanrivers.org", "Clean Rivers: Climate Fund 2027", "Clean Rivers", "Climate Fund 2027"),
        ("nea.gov", "National Endowment for the Arts | Challenge Fund", "National Endowment for the Arts", "Challenge Fund"),
        ("other.org", "Research grant 2026 | Alder Foundation", "Alder Foundation", "Research grant 2026"),
        ("ncf.bg", "Програма Публики | Национален фонд Култура", "Национален фонд Култура", "Програма Публики"),
        ("other.org", "Research grant 2026", None, "Research grant 2026"),
        ("alder.org", "Alder Foundation", "Alder Foundation", None),
        ("other.org", "", None, None),
    ],
)  # fmt: skip
def test_the_domains_own_name_tells_organisation_and_program_apart(
    domain: str, title: str, organisation: str | None, program: str | None
) -> None:
    found: Any = confidence(domain, title, CALL)
    assert (found.organisation_name, found.program_name) == (organisation, program)


def test_what_is_not_a_program_is_still_not_taken() -> None:
    assert not confidence("sea.com", *POOR).should_crawl
