"""Cadences: five cron fields in UTC, their usual nicknames, or `@every 90m`.

Written here rather than taken from a package: those exist for time zones and daylight saving,
which are not needed, and an invalid field gets a message that names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import islice

from messor.errors import UsageError

NICKNAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
MONTH_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec"
MONTHS = {name: number for number, name in enumerate(MONTH_NAMES.split(), 1)}
WEEKDAYS = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}

# Every calendar recurs within 28 years, except over a century without its leap day.
HORIZON_DAYS = 41 * 366
LONGEST_TEXT = 200
LONGEST_EVERY = timedelta(days=366)
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}

_EVERY = re.compile(r"@every ([1-9][0-9]{0,8})([smhdw])")
_PART = re.compile(r"(?P<first>\*|[0-9a-z]+)(?:-(?P<last>[0-9a-z]+))?(?:/(?P<step>[0-9]{1,3}))?")


@dataclass(frozen=True, slots=True)
class CronField:
    """One of the five fields: its range, and names that may replace numbers."""

    name: str
    low: int
    high: int
    names: dict[str, int]

    def parse(self, text: str) -> frozenset[int]:
        found: set[int] = set()
        for part in text.split(","):
            found.update(self._part(part))
        return frozenset(found)

    def _part(self, part: str) -> range:
        match = _PART.fullmatch(part)
        if match is None:
            raise UsageError(f"{part!r} is no {self.name} of a cron expression.")
        step = int(match["step"] or 1)
        if step == 0:
            raise UsageError(f"{part!r}: a step must be 1 or more.")
        if match["first"] == "*":
            if match["last"]:
                raise UsageError(f"{part!r} is no {self.name} of a cron expression.")
            return range(self.low, self.high + 1, step)
        first = self._number(match["first"])
        # "5/15" starts at five and runs to the end.
        last = self.high if match["step"] else first
        if match["last"]:
            last = self._number(match["last"], is_end=True)
        if last < first:
            raise UsageError(f"{part!r}: a range of {self.name}s must not run backwards.")
        return range(first, last + 1, step)

    def _number(self, text: str, *, is_end: bool = False) -> int:
        if text in self.names:
            number = self.names[text]
            # A week that ends on Sunday does not run backwards.
            return 7 if is_end and self.names is WEEKDAYS and number == 0 else number
        if not (text.isascii() and text.isdecimal() and len(text) <= 3):
            raise UsageError(f"{text!r} is no {self.name} of a cron expression.")
        number = int(text)
        if not self.low <= number <= self.high:
            raise UsageError(f"{text} is no {self.name}: these go from {self.low} to {self.high}.")
        return number


FIELDS = (
    CronField("minute", 0, 59, {}),
    CronField("hour", 0, 23, {}),
    CronField("day of the month", 1, 31, {}),
    CronField("month", 1, 12, MONTHS),
    CronField("day of the week", 0, 7, WEEKDAYS),  # Sunday is both 0 and 7
)


@dataclass(frozen=True, slots=True)
class Cron:
    """The minutes that five fields select."""

    text: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool  # both day fields are restricted: then either is enough

    def after(self, moment: datetime) -> datetime:
        """The first such minute after a time."""
        start = moment.astimezone(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)
        for day in self._days_from(start.date()):
            earliest = (start.hour, start.minute) if day == start.date() else (0, 0)
            for hour in self.hours:
                if hour < earliest[0]:
                    continue
                for minute in self.minutes:
                    if (hour, minute) >= earliest:
                        return datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)
        raise UsageError(f"{self.text!r} never occurs.")

    def _days_from(self, day: date) -> Iterator[date]:
        for _ in range(HORIZON_DAYS):
            if day.month in self.months and self._is_day(day):
                yield day
            day += timedelta(days=1)

    def _is_day(self, day: date) -> bool:
        of_month = day.day in self.days
        of_week = day.isoweekday() % 7 in self.weekdays
        return of_month or of_week if self.either_day else of_month and of_week


@dataclass(frozen=True, slots=True)
class Every:
    """A fixed interval after the last run."""

    text: str
    interval: timedelta

    def after(self, moment: datetime) -> datetime:
        return moment + self.interval


Cadence = Cron | Every


@lru_cache(maxsize=64)
def parse(text: str) -> Cadence:
    """Parse a cadence; raises UsageError if it is invalid or never occurs."""
    if len(text) > LONGEST_TEXT:
        raise UsageError(f"A cron expression has at most {LONGEST_TEXT} characters.")
    words = text.lower().split()
    if words[:1] == ["@every"]:
        return _every(" ".join(words))
    fields = NICKNAMES.get(words[0], "").split() if len(words) == 1 else words
    if len(fields) != len(FIELDS):
        raise UsageError(
            f"{text!r} is not a cadence: five cron fields (minute, hour, day of the month, month, "
            "day of the week), @hourly, @daily, @weekly, @monthly, @yearly, or @every 90m."
        )
    cron = _cron(" ".join(words), fields)
    cron.after(datetime(2000, 1, 1, tzinfo=UTC))  # rejects the 30th of February
    return cron


def _cron(text: str, fields: list[str]) -> Cron:
    minutes, hours, days, months, weekdays = (
        field.parse(part) for field, part in zip(FIELDS, fields, strict=True)
    )
    # As in every cron since Vixie's: a field that begins with a star restricts nothing by itself.
    either = not (fields[2].startswith("*") or fields[4].startswith("*"))
    weekdays = frozenset(day % 7 for day in weekdays)
    return Cron(text, tuple(sorted(minutes)), tuple(sorted(hours)), days, months, weekdays, either)


def _every(text: str) -> Every:
    match = _EVERY.fullmatch(text)
    seconds = int(match[1]) * UNITS[match[2]] if match else 0
    if not 0 < seconds <= LONGEST_EVERY.total_seconds():
        raise UsageError(f"{text!r} is not a cadence: write @every 30s, 90m, 6h, 2d or 4w.")
    return Every(text, timedelta(seconds=seconds))


def missed(cadence: Cadence, since: datetime, until: datetime, max_count: int = 1000) -> int:
    """How many runs were due from `since` (inclusive) to `until`; counted up to `most`."""

    def times() -> Iterator[datetime]:
        moment = since
        while moment <= until:
            yield moment
            moment = cadence.after(moment)

    return sum(1 for _ in islice(times(), max_count))
