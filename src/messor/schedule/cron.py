"""Cadences: five cron fields in UTC, their usual nicknames, or `@every 90m`.

`cronsim` parses the fields as Debian's cron does. Its sixth field, seconds, is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from itertools import islice

from cronsim import CronSim, CronSimError

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
LONGEST_TEXT = 200
LONGEST_EVERY = timedelta(days=366)
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}

_EVERY = re.compile(r"@every ([1-9][0-9]{0,8})([smhdw])")
_UNTIL_SUNDAY = re.compile(r"-sun\b")  # of a week that ends on Sunday


@dataclass(frozen=True, slots=True)
class Cron:
    """The minutes that five fields select."""

    text: str
    fields: str

    def after(self, moment: datetime, zone: tzinfo = UTC) -> datetime:
        """The first such minute after a time; the fields are of a zone."""
        found = next(CronSim(self.fields, moment.astimezone(zone)), None)
        if found is None:
            raise UsageError(f"{self.text!r} never occurs.")
        return found


@dataclass(frozen=True, slots=True)
class Every:
    """A fixed interval after the last run."""

    text: str
    interval: timedelta

    def after(self, moment: datetime, _: tzinfo = UTC) -> datetime:
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
    kept = " ".join(words)
    fields = NICKNAMES.get(kept, kept)
    if len(fields.split()) != 5:
        raise UsageError(
            f"{text!r} is not a cadence: five cron fields (minute, hour, day of the month, month, "
            "day of the week), @hourly, @daily, @weekly, @monthly, @yearly, or @every 90m."
        )
    cron = Cron(kept, _UNTIL_SUNDAY.sub("-7", fields))
    try:
        cron.after(datetime(2000, 1, 1, tzinfo=UTC))
    except CronSimError as error:
        raise UsageError(f"{text!r} is not a cron expression: {str(error).lower()}.") from error
    return cron


def _every(text: str) -> Every:
    match = _EVERY.fullmatch(text)
    seconds = int(match[1]) * UNITS[match[2]] if match else 0
    if not 0 < seconds <= LONGEST_EVERY.total_seconds():
        raise UsageError(f"{text!r} is not a cadence: write @every 30s, 90m, 6h, 2d or 4w.")
    return Every(text, timedelta(seconds=seconds))


def missed(cadence: Cadence, since: datetime, until: datetime, max_count: int = 1000) -> int:
    """How many runs were due from `since` (inclusive) to `until`; counted up to `max_count`."""

    def times() -> Iterator[datetime]:
        moment = since
        while moment <= until:
            yield moment
            moment = cadence.after(moment)

    return sum(1 for _ in islice(times(), max_count))
