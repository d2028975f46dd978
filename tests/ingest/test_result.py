"""The outcome of a run, for every way in which a site can refuse or fail."""

from __future__ import annotations

import pytest

from messor.ingest.result import (
    Circumstances,
    IngestedPage,
    Ingestion,
    PlannedPageResult,
    RunOutcome,
    judge,
)

USED, BLOCKED = PlannedPageResult.USED, PlannedPageResult.BLOCKED
FAILED, UNREACHED = PlannedPageResult.FAILED, PlannedPageResult.UNREACHED
ABSENT, DENIED = PlannedPageResult.ABSENT, PlannedPageResult.DENIED
SIGNAL = "challenge:one.test/robots.txt"


def _page(result: PlannedPageResult) -> IngestedPage:
    return IngestedPage(
        "http://one.test/", result, None, None, "homepage", cached=False, fetched=True, message=None
    )


def _met(
    friction: tuple[str, ...] = (),
    silenced: tuple[str, ...] = (),
    robots_refused: tuple[str, ...] = (),
) -> Circumstances:
    return Circumstances(
        list(friction), 25, list(silenced), list(robots_refused), [], has_worker=True
    )


@pytest.mark.parametrize(
    "results, met, outcome",
    [
        ((), _met((SIGNAL,)), RunOutcome.BLOCKED),  # no page was planned, or its result is lost
        ((FAILED,), _met((SIGNAL,)), RunOutcome.BLOCKED),
        ((UNREACHED,), _met((SIGNAL,)), RunOutcome.BLOCKED),
        ((ABSENT,), _met((SIGNAL,)), RunOutcome.BLOCKED),
        ((BLOCKED,), _met(), RunOutcome.BLOCKED),  # the signal is not flushed yet
        ((FAILED, BLOCKED), _met(), RunOutcome.BLOCKED),
        ((DENIED,), _met(), RunOutcome.BLOCKED),
        ((UNREACHED,), _met(silenced=("one.test: friction",)), RunOutcome.BLOCKED),
        ((UNREACHED,), _met(robots_refused=("denied",)), RunOutcome.BLOCKED),
        ((USED, BLOCKED), _met(), RunOutcome.PARTIAL),
        ((USED,), _met((SIGNAL,)), RunOutcome.PARTIAL),
        ((USED, FAILED), _met(), RunOutcome.PARTIAL),
        ((USED, UNREACHED), _met(), RunOutcome.PARTIAL),
        ((USED, ABSENT, DENIED), _met(), RunOutcome.SUCCESS),
        ((USED,), _met(silenced=("one.test: friction",)), RunOutcome.SUCCESS),
        ((FAILED,), _met(), RunOutcome.ERROR),
        ((UNREACHED,), _met(), RunOutcome.ERROR),
        ((ABSENT,), _met(), RunOutcome.ERROR),
        ((), _met(), RunOutcome.ERROR),
    ],
)
def test_bot_protection_is_blocked_however_it_shows(
    results: tuple[PlannedPageResult, ...], met: Circumstances, outcome: RunOutcome
) -> None:
    pages = [_page(result) for result in results]
    assert judge(pages, met) is outcome
    run = Ingestion(
        "t" * 32, "one-test", "one.test", "http://one.test/", "light", outcome, ["robots"], pages,
        [], met, 7, guidance=["It was refused.", "Try later."],
    )  # fmt: skip
    evidence = run.evidence["nm_ingest"]
    assert evidence["outcome"] == outcome.value
    assert evidence["frictionSignals"] == met.friction
    assert run.is_success is (USED in results)
    response = run.as_response()
    assert ("blocked" in response) is (outcome is RunOutcome.BLOCKED)
    assert ("error" in response) is (outcome is RunOutcome.ERROR)
    assert ("error" in run.evidence) is (outcome is RunOutcome.ERROR)
