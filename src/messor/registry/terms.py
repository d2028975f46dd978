"""Terms: how a domain is crawled, as a reviewer may set it, and what each term can be."""

from __future__ import annotations

from typing import Any, TypedDict

from messor.errors import UsageError


class Terms(TypedDict, total=False):
    """What is missing or None stays as it is."""

    delay: float | None  # seconds between requests to a host of it, instead of the usual
    max_concurrent_requests: int | None
    max_crawl_depth: int | None
    page_budget: int | None
    every_hours: int | None
    harvest: str | None
    on_block: str | None
    render: str | None
    directives: str | None
    reservations: str | None
    robots_forbidden: str | None
    proxies: str | None
    verify_tls: bool | None


# The terms whose columns have other names: those that a domain need not have of its own.
COLUMNS = {"delay": "crawl_delay_seconds", "every_hours": "scrape_frequency_hours"}

# The first of each is the default.
CHOICES = {
    "harvest": ("site", "asked"),  # all its pages, or only those somebody asks for
    "on_block": ("respect", "failover"),  # wait, or let another provider ask
    "render": ("auto", "never"),  # whether other providers than HTTP may be asked at all
    "directives": ("respect", "ignore"),  # noindex and nofollow
    "reservations": ("record", "respect"),  # rights reserved against text and data mining
    "robots_forbidden": ("allow", "deny"),  # what 401 and 403 for robots.txt mean
    "proxies": ("none", "pool"),
}

RANGES = {
    "delay": (0, 86_400),
    "max_concurrent_requests": (1, 1_000),
    "max_crawl_depth": (0, 100),
    "page_budget": (1, 100_000_000),
    "every_hours": (1, 87_600),
}


def understand(terms: Terms) -> dict[str, Any]:
    """Every term by its column, None where it stays as it is; raises a sentence about nonsense."""
    given: dict[str, Any] = {}
    for name in Terms.__annotations__:
        value = terms.get(name)
        if value is not None:
            _check(name, value)
        given[COLUMNS.get(name, name)] = value
    return given


def _check(name: str, value: Any) -> None:
    choices, bounds = CHOICES.get(name), RANGES.get(name)
    if choices is not None and value not in choices:
        raise UsageError(f"{name} can be {' or '.join(choices)}, not {str(value)[:50]!r}.")
    if bounds is not None and not bounds[0] <= value <= bounds[1]:
        raise UsageError(f"{name} must lie between {bounds[0]} and {bounds[1]}, not be {value}.")
