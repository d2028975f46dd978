"""The error category of a failed fetch."""

from __future__ import annotations

from collections.abc import Mapping

from messor.fetch.outcome import Fetched, FetchResult, Outcome
from messor.ledger.errors import Category

# A page that is gone, empty or redirected is a finding, not a failure.
_BY_OUTCOME: Mapping[Outcome, Category] = {
    Outcome.BLOCKED: "blocked",
    Outcome.TIMEOUT: "network",
    Outcome.REFUSED_ADDRESS: "network",
    Outcome.TOO_LARGE: "validation",
    Outcome.TOO_COMPLEX: "parse",
}
_UNREADABLE = frozenset({"bad_encoding"})


def category_of(result: FetchResult, fetched: Fetched) -> Category | None:
    """None if the fetch did not fail; `result` is what became of the response."""
    if result.outcome is not Outcome.ERROR:
        return _BY_OUTCOME.get(result.outcome)
    if fetched.error_type in _UNREADABLE:
        return "parse"
    return "network" if fetched.status is None else "http"
