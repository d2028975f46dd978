"""Parses Retry-After, in seconds or as a date, into a bounded number of seconds."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_SECONDS = 7 * 24 * 3600.0


def parse_retry_after(value: str | None, *, now: datetime | None = None) -> float | None:
    """Seconds to wait; None when the header is absent or invalid."""
    if value is None:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit():
        return min(float(value[:12]), MAX_SECONDS)
    try:
        moment = parsedate_to_datetime(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - (now or datetime.now(UTC))).total_seconds()
    except (ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), MAX_SECONDS)
