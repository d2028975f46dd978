"""Terms: how a domain is crawled, as set by a reviewer, and the allowed values."""

from __future__ import annotations

from typing import Any, TypedDict

from messor.errors import UsageError


class Terms(TypedDict, total=False):
    """Missing or None leaves a term unchanged."""

    delay: float | None  # seconds between requests to one of its hosts, instead of the default
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
    priority: int | None  # of its hosts when workers are busy: 1 first, 10 last


# Terms with other column names: those a domain need not have of its own.
COLUMNS = {"delay": "crawl_delay_seconds", "every_hours": "scrape_frequency_hours"}

# The first of each is the default.
CHOICES = {
    "harvest": ("site", "asked"),  # all its pages, or only requested ones
    "on_block": ("respect", "failover"),  # wait, or use another provider
    "render": ("auto", "never"),  # whether providers other than HTTP may be used
    "directives": ("respect", "ignore"),  # noindex and nofollow
    "reservations": ("record", "respect"),  # rights reserved against text and data mining
    "robots_forbidden": ("allow", "deny"),  # meaning of 401 and 403 for robots.txt
    "proxies": ("none", "pool"),
}

RANGES = {
    "delay": (0, 86_400),
    "max_concurrent_requests": (1, 1_000),
    "max_crawl_depth": (0, 100),
    "page_budget": (1, 100_000_000),
    "every_hours": (1, 87_600),
    "priority": (1, 10),
}


def understand(terms: Terms) -> dict[str, Any]:
    """Every term by column, None where unchanged; raises an error for invalid values."""
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
        raise UsageError(f"{name} must be {' or '.join(choices)}, not {str(value)[:50]!r}.")
    if bounds is not None and not bounds[0] <= value <= bounds[1]:
        raise UsageError(f"{name} must be between {bounds[0]} and {bounds[1]}, not {value}.")
