"""Bounds of an ingestion: how many pages may be given, and how it may end."""

from __future__ import annotations

import asyncpg
import pytest

from messor.errors import UsageError
from messor.ingest.request import CheckedRequest, IngestRequest, Mode
from messor.ingest.result import Circumstances, IngestedPage, PlannedPageResult, RunOutcome, judge
from messor.store.database import Database

RUN = """
INSERT INTO messor.ingestion_runs (trace_id, orbit_slug, mode, url, requested_by, outcome)
VALUES ($1, 'o', $2, 'https://a.test/', 'test', $3)
"""


def given(count: int) -> CheckedRequest:
    pages = tuple(f"https://shop.example/{n}" for n in range(count))
    request = IngestRequest("https://shop.example/", "test", Mode.USER_ASSISTED, pages)
    return CheckedRequest.understand(request)


def test_fifty_pages_may_be_given() -> None:
    assert len(given(50).pages) == 50
    with pytest.raises(UsageError, match="At most 50 pages fit one run; 51 were given"):
        given(51)


@pytest.mark.parametrize(
    "mode, pages, delay, discovers",
    [("light", 12, 0.8, True), ("standard", 25, 1.0, True), ("user_assisted", 50, 1.0, False)],
)
def test_each_mode_has_its_pages_and_its_pace(
    mode: str, pages: int, delay: float, discovers: bool
) -> None:
    urls = () if discovers else ("https://shop.example/a",)
    checked = CheckedRequest.understand(IngestRequest("https://shop.example/", "test", mode, urls))
    assert (checked.terms.cap, checked.terms.delay, checked.terms.discovers) == (
        pages,
        delay,
        discovers,
    )


async def test_a_run_has_one_of_four_outcomes(database: Database) -> None:
    for outcome in ("success", "partial", "blocked", "error"):
        await database.fetch(RUN, outcome, "light", outcome)
    with pytest.raises(asyncpg.CheckViolationError):
        await database.fetch(RUN, "x", "light", "unknown")
    with pytest.raises(asyncpg.CheckViolationError):
        await database.fetch(RUN, "y", "assisted", "success")
    with pytest.raises(asyncpg.UniqueViolationError):
        await database.fetch(RUN, "success", "light", "success")


def outcome(*results: PlannedPageResult, friction: bool = False) -> RunOutcome:
    pages = [IngestedPage("u", one, None, None, "", False, True, None) for one in results]
    met = Circumstances(["403:a.test/"] if friction else [], 0, [], [], [], has_worker=True)
    return judge(pages, met)


def test_the_outcome_follows_from_the_pages() -> None:
    used, failed, blocked = (
        PlannedPageResult.USED,
        PlannedPageResult.FAILED,
        PlannedPageResult.BLOCKED,
    )
    absent, denied = PlannedPageResult.ABSENT, PlannedPageResult.DENIED
    assert outcome(used, absent, denied) is RunOutcome.SUCCESS
    assert outcome(used, failed) is RunOutcome.PARTIAL
    assert outcome(used, friction=True) is RunOutcome.PARTIAL
    assert outcome(used, blocked) is RunOutcome.PARTIAL
    assert outcome(blocked) is RunOutcome.BLOCKED
    assert outcome(denied) is RunOutcome.BLOCKED
    assert outcome(failed, friction=True) is RunOutcome.BLOCKED
    assert outcome(failed) is RunOutcome.ERROR
    assert outcome() is RunOutcome.ERROR
