"""The category of a failed fetch, by what became of it."""

from __future__ import annotations

import pytest

from messor.fetch.error_category import category_of
from messor.fetch.outcome import Fetched, FetchResult, Outcome


@pytest.mark.parametrize(
    "outcome, status, error_type, category",
    [
        (Outcome.OK, 200, None, None),
        (Outcome.UNCHANGED, 304, None, None),
        (Outcome.NOT_FOUND, 404, None, None),
        (Outcome.BLOCKED, 403, None, "blocked"),
        (Outcome.TIMEOUT, None, "timeout", "network"),
        (Outcome.REFUSED_ADDRESS, None, None, "network"),
        (Outcome.TOO_LARGE, 200, None, "validation"),
        (Outcome.TOO_COMPLEX, 200, None, "parse"),
        (Outcome.ERROR, None, "connect", "network"),
        (Outcome.ERROR, None, "dns", "network"),
        (Outcome.ERROR, 500, None, "http"),
        (Outcome.ERROR, 200, "bad_encoding", "parse"),
    ],
)
def test_each_failure_has_its_category(
    outcome: Outcome, status: int | None, error_type: str | None, category: str | None
) -> None:
    result = FetchResult(outcome, error_type=error_type)
    assert category_of(result, Fetched(result, status=status)) == category
