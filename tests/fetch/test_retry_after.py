"""Retry-After in seconds and as a date."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from messor.fetch.retry_after import MAX_SECONDS, parse_retry_after

NOW = datetime(2026, 1, 5, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "value, seconds",
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("1.5", None),
        ("٣", None),
        ("0", 0.0),
        (" 120 ", 120.0),
        ("9" * 300, MAX_SECONDS),
        ("Mon, 05 Jan 2026 12:01:30 GMT", 90.0),
        ("Mon, 05 Jan 2026 12:01:30", 90.0),
        ("Monday, 05-Jan-26 12:01:30 GMT", 90.0),
        ("Mon Jan  5 12:01:30 2026", 90.0),
        ("Mon, 05 Jan 2026 13:01:30 +0100", 90.0),
        ("Mon, 05 Jan 2026 11:00:00 GMT", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", MAX_SECONDS),
        ("Mon, 05 Jan 2026 12:01:30 +99999999999999", None),
        ("Mon, 32 Jan 2026 12:01:30 GMT", None),
    ],
)
def test_it_is_read(value: str | None, seconds: float | None) -> None:
    assert parse_retry_after(value, now=NOW) == seconds
