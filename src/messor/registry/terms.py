"""Terms: how a domain is crawled, as set by a reviewer, and the allowed values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypedDict
from zoneinfo import available_timezones

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
    crawl_hours: str | None  # such as 22-6, in its time zone; any time without
    time_zone: str | None
    megabytes_per_day: int | None  # received from its hosts; any number without


# Terms that a domain need not have of its own, with their columns.
COLUMNS = {
    "delay": "crawl_delay_seconds",
    "every_hours": "scrape_frequency_hours",
    "crawl_hours": "crawl_hours",
    "megabytes_per_day": "megabytes_per_day",
}

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
    "megabytes_per_day": (1, 1_000_000_000),
}
_HOURS = re.compile(r"([01]?\d|2[0-3])\s*-\s*([01]?\d|2[0-4])")


def understand(terms: Terms) -> dict[str, Any]:
    """Every term by column, None where unchanged; raises an error for invalid values."""
    given: dict[str, Any] = {}
    for name in Terms.__annotations__:
        value = terms.get(name)
        if value is not None:
            _check(name, value)
            value = _USUAL_FORM.get(name, _as_it_is)(value)
        given[COLUMNS.get(name, name)] = value
    return given


def hours_of(text: str) -> str:
    """Crawl hours in their usual form, such as 22-6; raises UsageError."""
    found = _HOURS.fullmatch(text.strip())
    first, last = map(int, found.groups()) if found else (0, 0)
    if first == last % 24:
        raise UsageError(
            f"{text[:30]!r} are no crawl hours: give two hours of the day such as 22-6, from 22 h to 6 h."
        )
    return f"{first}-{last}"


def zone_of(text: str) -> str:
    """A time zone by its name; raises UsageError."""
    if text.strip() not in available_timezones():
        raise UsageError(f"{text[:60]!r} is not a time zone such as Europe/Berlin.")
    return text.strip()


def _as_it_is(value: Any) -> Any:
    return value


_USUAL_FORM: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {"crawl_hours": hours_of, "time_zone": zone_of}
)


def _check(name: str, value: Any) -> None:
    choices, bounds = CHOICES.get(name), RANGES.get(name)
    if choices is not None and value not in choices:
        raise UsageError(f"{name} must be {' or '.join(choices)}, not {str(value)[:50]!r}.")
    if bounds is not None and not bounds[0] <= value <= bounds[1]:
        raise UsageError(f"{name} must be between {bounds[0]} and {bounds[1]}, not {value}.")
