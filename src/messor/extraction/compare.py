"""Compares archived pages, read by one version of the parsers, with what is stored.

All other parsers read as they would now, with pins and learned rankings. Nothing is written. For
each field of each kind, in total and by domain, the report counts values stated by both, by one
only, agreements, and values that validation rejected: what a person needs to promote or reject a
version. Shadow trials use the same report.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from messor.archive.storage import ArchiveSource, archive_at
from messor.extraction.enclosed_records import enclose
from messor.extraction.reader_pool import ReaderPool
from messor.extraction.reader_protocol import ReadRequest, UnreadableError
from messor.parsers.page_findings import FoundPage
from messor.records import rankings
from messor.store.database import Database

PAGES_AT_ONCE = 64
# Domains reported by field; those with the most differences come first.
MOST_DOMAINS = 200
MOST_EXAMPLES = 20
OTHERS = "(others)"  # all other domains, in reports accumulated over time

# The newest good snapshot of each extracted page.
PAGES = """
SELECT x.page_id, d.domain, x.rejected, p.url, s.status_code, s.content_type,
       g.name AS segment, s.segment_offset, s.segment_length,
       (SELECT jsonb_object_agg(n.parser, n.version ORDER BY n.domain_id NULLS FIRST)
          FROM messor.parser_pins n
         WHERE n.domain_id IS NULL OR n.domain_id = x.domain_id)::text AS pins
  FROM messor.extractions x JOIN messor.pages p ON p.id = x.page_id
  JOIN messor.domains d ON d.id = x.domain_id
  JOIN messor.page_snapshots s ON s.id = x.snapshot_id
  JOIN messor.segments g ON g.id = s.segment_id
 WHERE x.page_id > $1 AND ($2::uuid IS NULL OR x.domain_id = $2)
   AND ($3::timestamptz IS NULL OR s.crawled_at >= $3)
 ORDER BY x.page_id LIMIT $4
"""
STORED = """
SELECT page_id, kind, identity, data FROM messor.records
 WHERE page_id = ANY ($1::bigint[]) AND state = 'current' AND parser <> 'ai'
"""

# Counters of a report besides fields.
_COUNTED = ("unreadable", "failed", "read", "rejected", "gained", "lost")

Records = dict[tuple[str, str], dict[str, Any]]  # values by kind and identity


@dataclass(slots=True)
class FieldTally:
    """Comparison of one field."""

    same: int = 0
    different: int = 0
    gained: int = 0  # stated by the candidate only
    lost: int = 0  # stored, but not stated by the candidate
    invalid: int = 0  # candidate's values rejected by validation
    invalid_before: int = 0  # the same for the current parser

    @property
    def agreement(self) -> float | None:
        both = self.same + self.different
        return round(self.same / both, 4) if both else None

    @property
    def differences(self) -> int:
        return self.different + self.gained + self.lost + abs(self.invalid - self.invalid_before)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "agreement": self.agreement}

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> FieldTally:
        return cls(**{name: data[name] for name in cls.__slots__})


@dataclass(slots=True)
class FieldTallies:
    """Comparisons of fields on some pages, by "kind.field"."""

    pages: int = 0
    fields: dict[str, FieldTally] = field(default_factory=dict)

    def of(self, name: str) -> FieldTally:
        return self.fields.setdefault(name, FieldTally())

    @property
    def differences(self) -> int:
        return sum(tally.differences for tally in self.fields.values())

    def as_json(self) -> dict[str, Any]:
        fields = {name: tally.as_json() for name, tally in sorted(self.fields.items())}
        return {"pages": self.pages, "fields": fields}

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> FieldTallies:
        fields = {name: FieldTally.of_json(each) for name, each in data["fields"].items()}
        return cls(data["pages"], fields)


@dataclass(frozen=True, slots=True)
class StoredPage:
    """The stored records of a page, and those rejected when it was read."""

    domain: str
    url: str
    records: Records
    rejected: list[dict[str, Any]]


@dataclass(slots=True)
class ComparisonReport:
    """The result of a comparison."""

    candidate: tuple[str, str] | None = None  # name and version; None: the current parsers
    unreadable: int = 0
    failed: int = 0  # pages on which the candidate failed, not compared
    read: int = 0  # pages on which the candidate found anything
    rejected: int = 0  # fields and records rejected by validation
    gained: int = 0  # records
    lost: int = 0
    everywhere: FieldTallies = field(default_factory=FieldTallies)
    domains: dict[str, FieldTallies] = field(default_factory=dict)
    examples: list[dict[str, Any]] = field(default_factory=list)
    is_kept: bool = False  # stored as JSON between pages, which limits its domains

    @classmethod
    def of_json(cls, data: dict[str, Any], candidate: tuple[str, str]) -> ComparisonReport:
        """Restore a stored report to continue it."""
        counted = {name: data[name] for name in _COUNTED}
        domains = {name: FieldTallies.of_json(each) for name, each in data["domains"].items()}
        return cls(
            candidate,
            everywhere=FieldTallies.of_json(data),
            domains=domains,
            examples=data["examples"],
            is_kept=True,
            **counted,
        )

    @property
    def pages(self) -> int:
        return self.everywhere.pages

    @property
    def looked_at(self) -> int:
        """Number of pages, compared or not."""
        return self.pages + self.unreadable + self.failed

    def as_json(self) -> dict[str, Any]:
        most = sorted(self.domains.items(), key=lambda each: (-each[1].differences, each[0]))
        return {
            **self.everywhere.as_json(),
            **{name: getattr(self, name) for name in _COUNTED},
            "domains": {name: tallies.as_json() for name, tallies in most[:MOST_DOMAINS]},
            "more_domains": max(0, len(most) - MOST_DOMAINS),
            "examples": self.examples,
        }

    def add(self, page: StoredPage, found: FoundPage, kinds: frozenset[str] | None) -> None:
        """Compare one page's records with the stored ones; `kinds` None means all.

        Kinds whose parser failed are left out: a missing answer is not a different one. Nor is it
        the same one if the candidate failed and another parser replaced it.
        """
        if self.candidate is not None and self.candidate[0] in found.failed:
            self.failed += 1
            return
        if found.unread and (kinds is None or kinds <= set(found.unread)):
            self.unreadable += 1
            return

        def counts(kind: str) -> bool:
            return (kinds is None or kind in kinds) and kind not in found.unread

        candidate = {(r.kind, r.identity): r.data for r in found.records if counts(r.kind)}
        stored = {key: data for key, data in page.records.items() if counts(key[0])}
        self.read += any((r.parser, r.parser_version) == self.candidate for r in found.records)
        disbelieved = [each for each in found.rejected if counts(each["kind"])]
        self.rejected += len(disbelieved)
        self.gained += len(candidate.keys() - stored.keys())
        self.lost += len(stored.keys() - candidate.keys())
        own = self.domains.setdefault(self._place(page.domain), FieldTallies())
        for tallies in (self.everywhere, own):
            tallies.pages += 1
            for key in stored.keys() | candidate.keys():
                _count(tallies, key[0], stored.get(key, {}), candidate.get(key, {}))
            for each in disbelieved:
                tallies.of(_field(each)).invalid += 1
            for each in page.rejected:
                if counts(each["kind"]):
                    tallies.of(_field(each)).invalid_before += 1
        self._show(page.url, stored, candidate)

    def _place(self, domain: str) -> str:
        is_full = self.is_kept and len(self.domains) >= MOST_DOMAINS - 1
        return OTHERS if is_full and domain not in self.domains else domain

    def _show(self, url: str, stored: Records, candidate: Records) -> None:
        """Keep some differences as examples."""
        for key in stored.keys() | candidate.keys():
            before, after = stored.get(key, {}), candidate.get(key, {})
            for name in before.keys() | after.keys():
                if len(self.examples) == MOST_EXAMPLES:
                    return
                if before.get(name) != after.get(name):
                    self.examples.append(
                        {"url": url, "field": f"{key[0]}.{name}", "stored": before.get(name),
                         "candidate": after.get(name)}
                    )  # fmt: skip


def _count(tallies: FieldTallies, kind: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    for name in before.keys() | after.keys():
        tally = tallies.of(f"{kind}.{name}")
        if name not in before:
            tally.gained += 1
        elif name not in after:
            tally.lost += 1
        elif before[name] == after[name]:
            tally.same += 1
        else:
            tally.different += 1


def _field(rejected: dict[str, Any]) -> str:
    """Return the field name; a rejected record is named by its kind."""
    return f"{rejected['kind']}.{rejected['field']}".rstrip(".")


async def compare_archive(
    database: Database,
    archive: ArchiveSource,
    *,
    processes: int | None = None,
    domain_id: UUID | None = None,
    since: datetime | None = None,
    kinds: frozenset[str] | None = None,
    pin: str | None = None,
    most: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> ComparisonReport:
    """Read the newest snapshot of each extracted page again and compare; writes nothing."""
    name, _, version = (pin or "").partition("=")
    candidate = (name, version) if version else None
    report, readers, after = ComparisonReport(candidate), ReaderPool(processes), 0
    try:
        ranking = await rankings.in_force(database)
        learnt = None if ranking is None else msgspec.json.encode(ranking)
        while most is None or report.looked_at < most:
            limit = PAGES_AT_ONCE if most is None else min(PAGES_AT_ONCE, most - report.looked_at)
            rows = await database.fetch(PAGES, after, domain_id, since, limit)
            if not rows:
                break
            after = rows[-1]["page_id"]
            found = await asyncio.gather(
                *(_read(readers, archive, row, candidate, learnt) for row in rows)
            )
            stored = await _stored(database, [row["page_id"] for row in rows])
            for row, page in zip(rows, found, strict=True):
                if page is None:
                    report.unreadable += 1
                else:
                    records = stored.get(row["page_id"], {})
                    rejected = msgspec.json.decode(row["rejected"])
                    before = StoredPage(row["domain"], row["url"], records, rejected)
                    report.add(before, page, kinds)
            if progress is not None:
                progress(report.looked_at)
    finally:
        await readers.close()
    return report


async def _read(
    readers: ReaderPool,
    archive: ArchiveSource,
    row: Any,
    candidate: tuple[str, str] | None,
    ranking: bytes | None,
) -> FoundPage | None:
    pins: dict[str, str] = msgspec.json.decode(row["pins"]) if row["pins"] else {}
    if candidate is not None:
        pins[candidate[0]] = candidate[1]
    order = ReadRequest(
        folder=str(archive_at(archive).folder),
        segment=row["segment"],
        offset=row["segment_offset"],
        length=row["segment_length"],
        content_type=row["content_type"],
        url=row["url"],
        status=row["status_code"],
        pins=pins,
        ranking=ranking,
    )
    try:
        return await readers.read(await enclose(archive_at(archive), order))
    except UnreadableError:
        return None


async def _stored(database: Database, page_ids: Sequence[int]) -> dict[int, Records]:
    found: dict[int, Records] = {}
    for row in await database.fetch(STORED, page_ids):
        key = row["kind"], row["identity"]
        found.setdefault(row["page_id"], {})[key] = msgspec.json.decode(row["data"])
    return found
