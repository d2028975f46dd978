"""Parser statistics: recent yield, losses, and changes by day.

Each query scans only the newest rows, so its cost does not grow with the number of records; in a
small installation that is all of them. `health` scans everything, for alerts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

from messor.parsers import Parsers
from messor.parsers.health import Health
from messor.parsers.registry import Pins, is_candidate
from messor.store.listing import Source

NEWEST = 20_000  # records, or changes, scanned
HELD = 5_000  # records counted where some were lost; there may be more
DAYS = 30
MOST_LOSSES = 10

YIELDS = f"""
SELECT r.parser, r.parser_version AS version,
       count(*) FILTER (WHERE r.state = 'current')::int AS standing,
       count(*) FILTER (WHERE r.state = 'removed')::int AS gone,
       avg(r.confidence) FILTER (WHERE r.state = 'current')::float8 AS sure,
       max(r.last_seen) AS last_seen
  FROM (SELECT parser, parser_version, state, confidence, last_seen
          FROM messor.records ORDER BY id DESC LIMIT {NEWEST}) r
 GROUP BY 1, 2 ORDER BY standing DESC, 1, 2
"""
# A record that disappears while its page stays is lost.
_BY_DAY = """
SELECT (c.changed_at AT TIME ZONE 'UTC')::date AS day,
       CASE WHEN c.state = 'removed' THEN 'lost' WHEN c.state = 'changed' THEN 'changed'
            ELSE 'found' END AS what, count(DISTINCT c.record_id)::int AS records
  FROM (SELECT record_id, changed_at, state, snapshot_id
          FROM messor.record_changes ORDER BY id DESC LIMIT {newest}) c
 WHERE c.changed_at >= (SELECT messor.clock()) - interval '{days} days'
   AND (c.state <> 'removed' OR c.snapshot_id IS NOT NULL) {more}
 GROUP BY 1, 2
"""
BY_DAY = _BY_DAY.format(newest=NEWEST, days=DAYS, more="")
OF_PARSER_BY_DAY = _BY_DAY.format(
    newest=NEWEST,
    days=DAYS,
    more="AND (SELECT r.parser FROM messor.records r WHERE r.id = c.record_id) = $1",
)
LOSSES = f"""
WITH lost AS (
  SELECT r.domain_id, r.parser, r.kind, count(DISTINCT r.id)::int AS lost
    FROM (SELECT record_id, changed_at, state, snapshot_id
            FROM messor.record_changes ORDER BY id DESC LIMIT {NEWEST}) c
    JOIN messor.records r ON r.id = c.record_id
   WHERE c.state = 'removed' AND c.snapshot_id IS NOT NULL AND r.state = 'removed'
     AND c.changed_at >= (SELECT messor.clock()) - make_interval(hours => $1)
   GROUP BY 1, 2, 3 ORDER BY lost DESC LIMIT {MOST_LOSSES}
)
SELECT d.domain, l.parser, l.kind, h.held, l.lost, h.sure
  FROM lost l JOIN messor.domains d ON d.id = l.domain_id CROSS JOIN LATERAL (
    SELECT count(*)::int AS held, avg(x.confidence)::float8 AS sure
      FROM (SELECT r.parser, r.confidence FROM messor.records r
             WHERE r.kind = l.kind AND r.domain_id = l.domain_id AND r.state = 'current'
             ORDER BY r.id DESC LIMIT {HELD}) x WHERE x.parser = l.parser) h
 ORDER BY l.lost DESC, d.domain, l.parser, l.kind
"""

TrialState = Literal["shadowing", "compared", "promoted", "rejected", "rolled_back"]


@dataclass(frozen=True, slots=True)
class Version:
    """A parser version installed here."""

    name: str
    version: str
    kinds: list[str]
    is_generic: bool
    is_candidate: bool
    reads: bool  # on domains without their own pin


@dataclass(frozen=True, slots=True)
class Yield:
    """What a parser version recently produced, and how much is still current."""

    parser: str
    version: str
    standing: int
    gone: int
    sure: float | None  # mean confidence of current records
    last_seen: datetime

    @property
    def success(self) -> float:
        return self.standing / (self.standing + self.gone)


@dataclass(frozen=True, slots=True)
class Movement:
    """Number of records found, changed or lost on a day."""

    day: date
    what: str
    records: int


@dataclass(frozen=True, slots=True)
class FieldScore:
    """A candidate compared with what is stored, for one field."""

    name: str
    same: int
    different: int
    gained: int
    lost: int
    invalid: int  # values rejected by validation
    invalid_before: int  # the same for the current parser

    @classmethod
    def of(cls, name: str, tally: dict[str, Any]) -> FieldScore:
        counted = "same", "different", "gained", "lost", "invalid", "invalid_before"
        return cls(name, *(tally.get(each, 0) for each in counted))

    @property
    def all(self) -> int:
        return self.same + self.different + self.gained + self.lost

    @property
    def agreement(self) -> float | None:
        both = self.same + self.different
        return self.same / both if both else None

    @property
    def coverage(self) -> float | None:
        """Share of all records with the field for which the candidate states it."""
        return (self.all - self.lost) / self.all if self.all else None

    @property
    def coverage_before(self) -> float | None:
        return (self.all - self.gained) / self.all if self.all else None

    @property
    def validity(self) -> float | None:
        """Share of the candidate's values that validation accepts."""
        return _share(self.all - self.lost, self.invalid)

    @property
    def validity_before(self) -> float | None:
        return _share(self.all - self.gained, self.invalid_before)


@dataclass(frozen=True, slots=True)
class DomainScore:
    """A candidate compared on the pages of one domain."""

    domain: str
    pages: int
    fields: list[FieldScore]

    @property
    def agreement(self) -> float | None:
        return _share(self._sum("same"), self._sum("different"))

    @property
    def gained(self) -> int:
        return self._sum("gained")

    @property
    def lost(self) -> int:
        return self._sum("lost")

    @property
    def validity(self) -> float | None:
        stated = self._sum("same") + self._sum("different") + self.gained
        return _share(stated, self._sum("invalid"))

    @property
    def differences(self) -> int:
        return self._sum("different") + self.gained + self.lost

    def _sum(self, name: str) -> int:
        return sum(getattr(field, name) for field in self.fields)


def _share(good: int, bad: int) -> float | None:
    return good / (good + bad) if good + bad else None


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate version compared with the current one, and the decision about it."""

    id: UUID
    parser: str
    version: str
    domain: str | None  # None: everywhere
    state: TrialState
    pages: int
    most: int | None  # pages after which a shadow trial is compared
    started_by: str
    started_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    reason: str | None
    report: dict[str, Any]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Trial:
        return cls(**{**row, "report": msgspec.json.decode(row["report"])})

    @property
    def fields(self) -> list[FieldScore]:
        """Fields or domains with the most differences first."""
        return _scores(self.report)

    @property
    def domains(self) -> list[DomainScore]:
        """Fields or domains with the most differences first."""
        scores = [
            DomainScore(name, tallies["pages"], _scores(tallies))
            for name, tallies in self.report.get("domains", {}).items()
        ]
        return sorted(scores, key=lambda one: (-one.differences, one.domain))

    @property
    def agreement(self) -> float | None:
        same = sum(one.same for one in self.fields)
        both = same + sum(one.different for one in self.fields)
        return same / both if both else None

    @property
    def values_lost(self) -> int:
        """Stored values that the candidate does not state; agreement does not include them."""
        return sum(one.lost for one in self.fields)

    @property
    def values_gained(self) -> int:
        return sum(one.gained for one in self.fields)


def _scores(tallies: dict[str, Any]) -> list[FieldScore]:
    scores = [FieldScore.of(*each) for each in tallies.get("fields", {}).items()]
    return sorted(scores, key=lambda one: (one.same - one.all, -one.invalid, one.name))


def versions(known: Parsers, pinned: Pins) -> list[Version]:
    """Return all installed versions in order of precedence; `pinned` are the global pins."""
    there = {(one.name, one.version) for one in known}
    good = {name: version for name, version in pinned.items() if (name, version) in there}
    reading = {(one.name, one.version) for one in known.chosen(pins=good)}
    return [
        Version(
            one.name,
            one.version,
            sorted(one.kinds),
            one.is_generic,
            is_candidate(one.version),
            (one.name, one.version) in reading,
        )
        for one in known
    ]


async def yields(source: Source) -> list[Yield]:
    """Return the yield of each version, by the newest records."""
    return [Yield(**row) for row in await source.fetch(YIELDS)]


async def by_day(source: Source, parser: str | None = None) -> list[Movement]:
    """Return records found, changed and lost by day, by the newest changes."""
    rows = source.fetch(BY_DAY) if parser is None else source.fetch(OF_PARSER_BY_DAY, parser)
    return [Movement(**row) for row in await rows]


async def losses(source: Source, *, hours: int = 24 * 7) -> list[Health]:
    """Return what parsers lost on pages that still exist; the greatest losses first."""
    return [Health(**row) for row in await source.fetch(LOSSES, hours)]
