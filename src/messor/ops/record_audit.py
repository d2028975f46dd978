"""The record audit: whether extracted records are complete, and whether the archive proves them.

Records are checked in ranges of ids, so that millions need no more memory than a few; the proof,
which has to be read from the archive, is checked on a new random sample each time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import msgspec

from messor.archive.snapshot_content import read_body
from messor.archive.storage import ArchiveSource
from messor.content.evidence import NORMALISERS
from messor.errors import MessorError
from messor.ops import archive_audit
from messor.ops.record_checks import CHECKS, RecordCheck
from messor.parsers.page_findings import clean
from messor.parsers.page_reading import installed_parsers
from messor.parsers.page_text import text_of
from messor.store.database import Database

SLICE = 20_000
SAMPLE = 300  # records and snapshots compared with the archive
QUOTED, ARCHIVED = "RECORDS_005", "RECORDS_006"  # checks that read the archive
MAX_EXAMPLES = 10

RANGE = "SELECT coalesce(min(id), 0), coalesce(max(id), -1) FROM messor.records"
# Random blocks of the table, somewhat more than needed.
SAMPLED = """
SELECT r.id, r.kind, r.data, r.fields, s.content_type, g.name AS segment, s.segment_offset,
       s.segment_length
  FROM (SELECT id FROM messor.records TABLESAMPLE SYSTEM ({percent})
         WHERE state = 'current' ORDER BY random() LIMIT $1) k
  JOIN messor.records r ON r.id = k.id
  JOIN messor.page_snapshots s ON s.id = r.snapshot_id
  JOIN messor.segments g ON g.id = s.segment_id
"""


@dataclass(slots=True)
class RecordVerdict:
    """A check with its finding."""

    check: RecordCheck
    examined: int = 0
    broken: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def state(self) -> str:
        if self.broken:
            return "fail"
        return "pass" if self.examined else "no data"

    def add(self, examined: int, broken: int, examples: list[str]) -> None:
        self.examined += examined
        self.broken += broken
        self.examples += examples[: MAX_EXAMPLES - len(self.examples)]

    def as_dict(self) -> dict[str, Any]:
        fields = asdict(self)
        check = fields.pop("check")
        return {"id": check["id"], "title": check["title"], "asks": check["asks"],
                "state": self.state, **fields}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecordReport:
    """All checks of one audit."""

    records: int
    verdicts: list[RecordVerdict]

    @property
    def is_clean(self) -> bool:
        return not any(verdict.broken for verdict in self.verdicts)

    @property
    def message(self) -> str:
        if not self.records and self.is_clean:
            return "There are no records to check yet."
        if self.is_clean:
            return f"{self.records:,} records are complete, and the archive proves the sample."
        broken = ", ".join(each.check.id for each in self.verdicts if each.broken)
        return f"Records failed checks: {broken}."

    def as_dict(self) -> dict[str, Any]:
        return {
            "records": self.records,
            "clean": self.is_clean,
            "verdict": self.message,
            "checks": [verdict.as_dict() for verdict in self.verdicts],
        }


async def audit(
    database: Database,
    archive: ArchiveSource,
    *,
    sample: int = SAMPLE,
    progress: Callable[[int], None] | None = None,
) -> RecordReport:
    """Check all records, and the proof of a sample."""
    verdicts = [RecordVerdict(check) for check in CHECKS]
    row = await database.fetchrow(RANGE)
    assert row is not None
    first, last = row
    for start in range(first, last + 1, SLICE):
        for verdict in verdicts:
            if verdict.check.sql is not None:
                found = await database.fetchrow(
                    verdict.check.sql, start, min(start + SLICE - 1, last)
                )
                assert found is not None
                verdict.add(found["examined"], found["broken"], list(found["examples"]))
        if progress is not None:
            progress(verdicts[0].examined)
    by_id = {verdict.check.id: verdict for verdict in verdicts}
    faults, examined = await _proofs(database, archive, verdicts[0].examined, sample)
    by_id[QUOTED].add(examined, len(faults), faults)
    if sample:
        held = await archive_audit.audit_sample(database, archive, sample)
        examples = [
            f"snapshot {each.snapshot_id} of {each.url}: {each.message}" for each in held.findings
        ]
        by_id[ARCHIVED].add(held.examined, held.counts.total(), examples)
    return RecordReport(verdicts[0].examined, verdicts)


async def _proofs(
    database: Database, archive: ArchiveSource, records: int, sample: int
) -> tuple[list[str], int]:
    """Compare a sample of records with the archive: flaws, and how many were checked."""
    installed_parsers()  # importing them registers the normalisers
    percent = 100 if records <= 10 * sample else max(0.01, 1000 * sample / records)
    rows = await database.fetch(SAMPLED.format(percent=percent), sample)
    faults: list[str] = []
    for row in rows:
        faults += await asyncio.to_thread(_unproven, archive, row)
    return faults, len(rows)


def _unproven(archive: ArchiveSource, row: Any) -> list[str]:
    """What the archive does not prove of a record."""
    name = f"record {row['id']}"
    try:
        body = read_body(archive, row["segment"], row["segment_offset"], row["segment_length"])
        decoded = text_of(body, row["content_type"])
    except MessorError as error:
        return [f"{name}: {error}"]
    values, proofs = msgspec.json.decode(row["data"]), msgspec.json.decode(row["fields"])
    unproven = [
        key for key, value in values.items() if not _is_proven(value, proofs.get(key, {}), decoded)
    ]
    if not unproven:
        return []
    return [f"{name}: the archived page does not contain its {', '.join(sorted(unproven))}"]


def _is_proven(value: Any, proof: dict[str, Any], decoded: str) -> bool:
    """Whether the quote occurs in the page and yields the value.

    For third-party methods only the former. Of a corrected field, the page's own value is checked.
    """
    if "correction" in proof:
        value = proof["correction"]["page_value"]
        if value is None:
            return True
    evidence = proof.get("evidence", {})
    quote, method = evidence.get("quote", ""), evidence.get("method", "")
    if not quote or quote not in decoded:
        return False
    if method.partition(":")[2] not in NORMALISERS:
        return True
    derived = clean(msgspec.to_builtins(NORMALISERS.value(method, quote)))
    return bool(msgspec.json.decode(msgspec.json.encode(derived)) == value)
