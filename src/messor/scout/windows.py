"""Windows: the period for which one result page of a keyword is enough, by tier."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True, slots=True)
class Window:
    """A period of UTC time and its name: 2026-11-16, 2026-W47 or 2026-11."""

    key: str
    ends_at: datetime


def window_of(tier: str, moment: datetime) -> Window:
    """Tier A is searched daily, B weekly (ISO weeks), C monthly."""
    day = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if tier == "A":
        return Window(f"{day:%Y-%m-%d}", day + timedelta(days=1))
    if tier == "B":
        monday = day - timedelta(days=day.weekday())
        year, week, _ = day.isocalendar()
        return Window(f"{year}-W{week:02}", monday + timedelta(weeks=1))
    first = day.replace(day=1)
    following = (first + timedelta(days=32)).replace(day=1)
    return Window(f"{day:%Y-%m}", following)
