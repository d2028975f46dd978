"""Processing against its database: every step of the table, marks, rests and what the table refuses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from messor.errors import ConflictError, MessorError, UsageError
from messor.registry import domains, processing
from messor.registry.domains import Domain
from messor.registry.life import BACK_OFF, PROCESSING, back_off
from messor.store.database import Connection, Database
from tests.crawling import TESTER, later, submit
from tests.registry.standing import STATES, at_processing, at_status, event_types, events

YEAR = datetime.now(UTC).year
Step = Callable[[Connection, Domain], Awaitable[Domain]]

STEPS: dict[str, Step] = {
    "processing": lambda c, d: processing.revive(c, d, actor=TESTER),
    "processing_failed": lambda c, d: processing.fail(c, d, "no answer", actor=TESTER),
    "no_funds_this_year": lambda c, d: processing.no_funds(c, d, YEAR, actor=TESTER),
}


async def take(database: Database, domain: Domain, step: Step) -> Domain:
    async with database.transaction() as connection:
        return await step(connection, domain)


async def judge(database: Database, domain: Domain, *confidences: float) -> Domain:
    for confidence in confidences:
        async with database.transaction() as connection:
            domain = await processing.judged(connection, domain, confidence)
    return domain


@pytest.mark.parametrize("before", sorted(PROCESSING))
async def test_every_step_from_a_state(database: Database, before: str) -> None:
    for number, (after, step) in enumerate(STEPS.items()):
        domain = await at_processing(database, before, f"n{number}.example")
        if after in PROCESSING[before]:
            moved = await take(database, domain, step)
            assert moved.processing == after
            assert moved.last_processed_at is not None
        else:
            with pytest.raises(ConflictError, match=rf"is {before}.*not {after}"):
                await take(database, domain, step)
            assert (await domains.get(database, domain.domain)).processing == before


@pytest.mark.parametrize("before", sorted(PROCESSING))
async def test_the_table_is_asked_for_every_pair(database: Database, before: str) -> None:
    domain = await at_processing(database, before)
    for after in PROCESSING:
        if after in PROCESSING[before]:
            processing.check(domain, after)
        else:
            with pytest.raises(ConflictError):
                processing.check(domain, after)


@pytest.mark.parametrize("after", sorted(PROCESSING))
async def test_a_blacklisted_domain_takes_no_step(database: Database, after: str) -> None:
    domain = await at_status(database, "blacklisted")
    with pytest.raises(ConflictError, match="never processed again"):
        processing.check(domain, after)
    if after in STEPS:
        with pytest.raises(ConflictError, match="never processed again"):
            await take(database, domain, STEPS[after])
    with pytest.raises(ConflictError, match="never processed again"):
        await judge(database, domain, 0.9)
    if after != "discovered":
        with pytest.raises(asyncpg.CheckViolationError):
            await database.fetch(
                f"UPDATE messor.domains SET processing = '{after}' {STATES[after]}"
            )


@pytest.mark.parametrize("status", ["pending_review", "approved", "rejected", "suspended"])
async def test_blacklisted_is_for_ever_in_the_table_itself(database: Database, status: str) -> None:
    await at_status(database, "blacklisted")
    with pytest.raises(asyncpg.CheckViolationError, match="for ever"):
        await database.fetch(
            f"UPDATE messor.domains SET status = '{status}', reviewed_at = messor.clock()"
        )


def test_failures_back_off_and_end_weekly() -> None:
    hours = [back_off(failures).total_seconds() / 3600 for failures in range(1, 8)]
    assert hours == [1, 4, 24, 168, 168, 168, 168]


async def test_a_failing_domain_rests_longer_each_time(dsn: str) -> None:
    waited = timedelta()
    for failures, rest in enumerate([*BACK_OFF, BACK_OFF[-1]], 1):
        async with Database(later(dsn, waited)) as database:
            domain = await submit(database, "example.org")
            async with database.transaction() as connection:
                domain = await processing.begin(connection, domain)
                failed = await processing.fail(connection, domain, "no answer")
            assert (failed.failure_count, failed.failure_reason) == (failures, "no answer")
            now = await database.fetchval("SELECT messor.clock()")
            assert failed.retry_after is not None
            assert rest - timedelta(minutes=1) < failed.retry_after - now <= rest
            with pytest.raises(ConflictError, match="rests until"):
                async with database.transaction() as connection:
                    await processing.begin(connection, failed)
            async with database.transaction() as connection:
                assert await processing.rested(connection) == []
        waited += rest + timedelta(minutes=1)
        async with Database(later(dsn, waited)) as database, database.transaction() as connection:
            assert await processing.rested(connection) == ["example.org"]


async def test_something_good_ends_the_row_of_failures(database: Database) -> None:
    domain = await at_processing(database, "processing_failed")
    async with database.transaction() as connection:
        assert await processing.recover(connection, domain) == domain  # it rests
        domain = await processing.revive(connection, domain, actor=TESTER)
        domain = await processing.recover(connection, domain)
        assert (domain.failure_count, domain.failure_reason) == (0, None)
        failed = await processing.fail(connection, domain, "again")
    assert failed.failure_count == 1


@pytest.mark.parametrize("reason", ["", " \n", "\x00"])
async def test_a_failure_needs_a_reason(database: Database, reason: str) -> None:
    domain = await at_processing(database, "processing")
    with pytest.raises(UsageError, match="Give a reason why"):
        await take(database, domain, lambda c, d: processing.fail(c, d, reason))


@pytest.mark.parametrize("year", [2019, 2101, -1, YEAR - 1])
async def test_a_year_without_funds_must_make_sense(database: Database, year: int) -> None:
    domain = await submit(database, "example.org")
    with pytest.raises(UsageError):
        await take(database, domain, lambda c, d: processing.no_funds(c, d, year, actor=TESTER))


async def test_a_domain_without_funds_returns_in_the_new_year(dsn: str, database: Database) -> None:
    domain = await submit(database, "example.org")
    resting = await take(database, domain, STEPS["no_funds_this_year"])
    assert resting.no_funds_year == YEAR
    assert processing.rests_until(resting) == datetime(YEAR + 1, 1, 1, tzinfo=UTC)
    left = datetime(YEAR + 1, 1, 1, tzinfo=UTC) - datetime.now(UTC)
    if left > timedelta(minutes=2):
        early = Database(later(dsn, left - timedelta(minutes=1)))
        async with early, early.transaction() as connection:
            assert await processing.rested(connection) == []
    after = Database(later(dsn, left + timedelta(minutes=1)))
    async with after, after.transaction() as connection:
        assert await processing.rested(connection) == ["example.org"]
        back = await processing.begin(connection, resting)
    assert (back.processing, back.no_funds_year) == ("processing", None)


@pytest.mark.parametrize(
    "confidences, state",
    [
        ((0.1,), "processing"),
        ((0.1, 0.2), "processing"),
        ((0.1, 0.2, 0.599999), "processed_low_quality"),
        ((0.6,), "processed_high_quality"),
        ((0.1, 0.2, 0.6), "processed_high_quality"),
        ((0.6, 0.1, 0.1, 0.1), "processed_high_quality"),
        ((0.0, 0.0, 0.0, 0.9), "processed_high_quality"),
        ((1.0,), "processed_high_quality"),
    ],
)
async def test_candidates_mark_their_domain(
    database: Database, confidences: tuple[float, ...], state: str
) -> None:
    domain = await judge(database, await at_processing(database, "processing"), *confidences)
    high = sum(confidence >= 0.6 for confidence in confidences)
    assert domain.processing == state
    assert domain.high_quality_candidate_count == high
    assert domain.low_quality_candidate_count == len(confidences) - high
    assert domain.best_confidence_score == max(confidences)


@pytest.mark.parametrize("confidence", [-0.01, 1.01, float("nan"), float("inf")])
async def test_a_confidence_lies_between_0_and_1(database: Database, confidence: float) -> None:
    domain = await at_processing(database, "processing")
    with pytest.raises(UsageError, match="between 0 and 1"):
        await judge(database, domain, confidence)


async def test_many_judges_at_once_lose_no_count(database: Database) -> None:
    domain = await at_processing(database, "processing")
    async with asyncio.TaskGroup() as group:
        for _ in range(20):
            group.create_task(judge(database, domain, 0.2))
    domain = await domains.get(database, domain.domain)
    assert (domain.low_quality_candidate_count, domain.processing) == (20, "processed_low_quality")
    assert (await event_types(database)).count("domain.low_quality") == 1


async def test_of_two_who_begin_one_is_told(database: Database) -> None:
    domain = await submit(database, "example.org")

    async def begin() -> Domain | MessorError:
        try:
            return await take(database, domain, processing.begin)
        except MessorError as error:
            return error

    answers = await asyncio.gather(begin(), begin())
    errors = [str(answer) for answer in answers if isinstance(answer, MessorError)]
    assert len(errors) == 1
    assert "was changed meanwhile" in errors[0]
    assert (await domains.get(database, "example.org")).processing_count == 1


@pytest.mark.parametrize(
    "change",
    [
        "processing = 'processing_failed', failure_count = 1, retry_after = messor.clock()",
        (
            "processing = 'processing_failed', failure_reason = ' ', failure_count = 1,"
            " retry_after = messor.clock()"
        ),
        "processing = 'processing_failed', failure_reason = 'x', failure_count = 1",
        "processing = 'processing_failed', failure_reason = 'x', retry_after = messor.clock()",
        "processing = 'no_funds_this_year'",
        "no_funds_year = 2019",
        "no_funds_year = 2101",
        "best_confidence_score = 1.1",
        "best_confidence_score = -0.1",
        "high_quality_candidate_count = -1",
        "low_quality_candidate_count = -1",
        "failure_count = -1",
        "processing_count = -1",
        "processing = 'processed_high_quality'",
        "processing = 'processed_low_quality', low_quality_candidate_count = 2",
        (
            "processing = 'processed_low_quality', low_quality_candidate_count = 3,"
            " high_quality_candidate_count = 1"
        ),
        "processing = 'unheard_of'",
        "is_trusted_domain = true",
        "domain = 'https://example.org'",
        "domain = 'example.org/path'",
        "domain = 'example'",
        "domain = 'ex ample.org'",
        "domain = '.example.org'",
        "status = 'blacklisted', rejection_reason = E' \\t\\n', reviewed_at = messor.clock()",
        "status = 'rejected', rejection_reason = ' ', reviewed_at = messor.clock()",
    ],
)
async def test_the_table_refuses_nonsense(database: Database, change: str) -> None:
    await submit(database, "example.org")
    with pytest.raises(asyncpg.CheckViolationError):
        await database.fetch(f"UPDATE messor.domains SET {change}")


async def test_the_view_speaks_the_specifications_language(database: Database) -> None:
    await at_status(database, "blacklisted", "bad.example")
    await at_processing(database, "no_funds_this_year", "poor.example")
    rows: dict[str, Any] = {
        row["domain_name"]: row for row in await database.fetch("SELECT * FROM messor.domain")
    }
    bad, poor = rows["bad.example"], rows["poor.example"]
    assert (bad["status"], bad["blacklisted_by"], bad["blacklist_reason"]) == (
        "BLACKLISTED",
        TESTER,
        "because",
    )
    assert bad["blacklisted_at"] is not None
    assert (poor["status"], poor["no_funds_year"], poor["blacklisted_by"]) == (
        "NO_FUNDS_THIS_YEAR",
        2026,
        None,
    )


async def test_each_step_leaves_its_event(database: Database) -> None:
    domain = await submit(database, "example.org")
    for step in ("processing", "processing_failed", "processing", "no_funds_this_year"):
        domain = await take(database, domain, STEPS[step])
    recorded = (await events(database))[1:]
    assert [event.type for event in recorded] == [
        "domain.processing",
        "domain.failed",
        "domain.processing",
        "domain.no_funds",
    ]
    assert recorded[1].data == {"before": "processing", "reason": "no answer", "failures": 1}
    assert recorded[3].data == {"before": "processing", "year": YEAR}
