"""The archive audit: compares snapshots, a sample or all, with the bytes they refer to.

Records are read off the event loop; pages are parsed in separate processes, so that a page that
once crashed a worker cannot crash an audit. `archive_repair` fixes what is found.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from messor.archive import verification
from messor.archive.snapshots import READER_VERSION
from messor.archive.storage import ArchiveSource, archive_at
from messor.archive.verification import Examined, SnapshotFinding, SnapshotFlaw
from messor.extraction.enclosed_records import enclose
from messor.extraction.reader_pool import ReaderPool
from messor.extraction.reader_protocol import ReadRequest, UnreadableError
from messor.store.database import Database

AT_ONCE = 500
MAX_LISTED = 10_000

# Flaws that only the page's text can tell apart.
_BY_TEXT = (None, SnapshotFlaw.HASH)


@dataclass(slots=True)
class ArchiveReport:
    """The result of an archive audit."""

    examined: int = 0
    elsewhere: int = 0  # snapshots whose bytes are on another machine
    unread: int = 0  # pages that could not be parsed again, so their text was not compared
    known: int = 0  # found before, and marked
    counts: Counter[str] = field(default_factory=Counter)
    findings: list[SnapshotFinding] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return not self.counts

    @property
    def message(self) -> str:
        if not self.examined and not self.elsewhere:
            return "There are no snapshots to check yet."
        elsewhere = f" {self.elsewhere:,} are on other machines." if self.elsewhere else ""
        known = f" {self.known:,} were found before and are marked." if self.known else ""
        if self.is_clean:
            return f"{self.examined:,} snapshots match the archive.{known}{elsewhere}"
        what = ", ".join(f"{count:,} {flaw}" for flaw, count in sorted(self.counts.items()))
        return (
            f"{self.counts.total():,} of {self.examined:,} snapshots do not match the archive: "
            f"{what}.{known}{elsewhere}"
        )

    def add(self, findings: Iterable[SnapshotFinding]) -> None:
        for finding in findings:
            self.counts[finding.flaw] += 1
            if len(self.findings) < MAX_LISTED:
                self.findings.append(finding)

    def as_dict(self) -> dict[str, Any]:
        return {
            "clean": self.is_clean,
            "verdict": self.message,
            "examined": self.examined,
            "elsewhere": self.elsewhere,
            "unread": self.unread,
            "known": self.known,
            "found": dict(self.counts),
            "snapshots": [
                {
                    "snapshot_id": each.snapshot_id,
                    "url": each.url,
                    "flaw": each.flaw,
                    "message": each.message,
                    "is_current": each.is_current,
                }
                for each in self.findings
            ],
        }


class Verifier:
    """Compares snapshots with the archive, batch by batch."""

    def __init__(
        self, database: Database, archive: ArchiveSource, *, processes: int | None = None
    ) -> None:
        self._database = database
        self._archive = archive_at(archive)
        self._readers = ReaderPool(processes)

    async def close(self) -> None:
        await self._readers.close()

    async def verify(self, rows: Sequence[Any], report: ArchiveReport) -> list[SnapshotFinding]:
        """Flaws of these snapshots; also counted in the report."""
        examined = await self._examine(rows)
        here = [each for each in examined if each.is_here]
        report.elsewhere += len(examined) - len(here)
        report.examined += len(here)
        report.known += sum(each.is_known for each in here)
        flawed = [each for each in here if each.flaw not in _BY_TEXT and not each.is_known]
        open_ = [each for each in here if each.flaw in _BY_TEXT and not each.is_known]
        compared = await asyncio.gather(*(self._compare(each, report) for each in open_))
        findings = [each.finding() for each in flawed]
        findings += [finding for finding in compared if finding is not None]
        report.add(findings)
        return findings

    async def _examine(self, rows: Sequence[Any]) -> list[Examined]:
        """Check the records; a bad one is checked twice, because bytes may have moved meanwhile."""

        def look(rows: Sequence[Any]) -> list[Examined]:
            return [verification.examine(self._archive, row) for row in rows]

        examined = await asyncio.to_thread(look, rows)
        doubted = [each.row["id"] for each in examined if each.flaw is not None]
        if not doubted:
            return examined
        again = await verification.named(self._database, doubted)
        well = [each for each in examined if each.flaw is None]
        return well + await asyncio.to_thread(look, again)

    async def _compare(self, examined: Examined, report: ArchiveReport) -> SnapshotFinding | None:
        """Whether the bytes yield the stored text."""
        row = examined.row
        is_same: bool | None = None
        if row["kind"] != "image":
            is_same = await self._text_matches(row)
            report.unread += is_same is None
        if examined.flaw is SnapshotFlaw.HASH:
            # The hash does not match the bytes: only their text can still prove that they are the
            # page's.
            if is_same:
                return examined.finding()
            return examined.finding(
                SnapshotFlaw.MISFILED, "its record holds other content of its page"
            )
        if is_same is False and row["reader_version"] == READER_VERSION:
            return examined.finding(SnapshotFlaw.TEXT, "its text does not match its bytes")
        return None

    async def _text_matches(self, row: Any) -> bool | None:
        """None if the page cannot be parsed again."""
        order = ReadRequest(
            folder=str(self._archive.folder),
            segment=row["segment"],
            offset=row["segment_offset"],
            length=row["segment_length"],
            content_type=row["content_type"],
            url=row["url"],
            status=row["status_code"],
            reread=True,
        )
        try:
            response = await self._readers.answer(await enclose(self._archive, order))
        except UnreadableError:
            return None
        hashes = response.content_hashes
        if hashes is None:
            return False
        # A missing text does not match the bytes, though its hash is still there.
        return row["content_hash"] in ([hashes.text] if row["has_text"] else hashes.as_it_is)


async def audit_sample(database: Database, archive: ArchiveSource, size: int) -> ArchiveReport:
    """Compare a random sample of snapshots with the archive."""
    report = ArchiveReport()
    rows = await verification.sample(database, size)
    if rows:
        verifier = Verifier(database, archive, processes=1)
        try:
            await verifier.verify(rows, report)
        finally:
            await verifier.close()
    return report


async def walk(
    database: Database,
    archive: ArchiveSource,
    report: ArchiveReport,
    *,
    domain_id: UUID | None = None,
    progress: Callable[[int], None] | None = None,
) -> AsyncIterator[list[SnapshotFinding]]:
    """Compare all snapshots, or a domain's, with the archive; yields findings as they are found."""
    verifier, after = Verifier(database, archive), 0
    try:
        while rows := await verification.following(database, after, AT_ONCE, domain_id):
            after = rows[-1]["id"]
            yield await verifier.verify(rows, report)
            if progress is not None:
                progress(report.examined)
    finally:
        await verifier.close()
