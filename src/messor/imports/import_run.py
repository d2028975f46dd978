"""The import of saved pages: sources in, a report out; no request is sent to any site.

Pages are processed in batches. Committed batches stay when a later one fails, and a repeated import
changes nothing.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime

from messor.archive.storage import Archive
from messor.archive.writer import own_segments
from messor.errors import MessorError, UnavailableError
from messor.imports.batch import ERROR, OK, UNCHANGED, BatchImporter, Imported
from messor.imports.originals import Originals
from messor.imports.prepare import ImportCandidate, address
from messor.imports.saved import Damage, Items, SavedPage, Unreadable, printable
from messor.imports.sources import Source
from messor.registry.domains import Submission
from messor.settings import Settings
from messor.store.database import LOST_CONNECTION, Database

BATCH_PAGES = 200
BATCH_BYTES = 8_000_000
MAX_RESULTS = 10_000  # listed one by one; beyond that only counted


@dataclass(slots=True)
class ImportReport:
    """The result of an import."""

    counts: Counter[str] = field(default_factory=Counter)  # pages by outcome
    passed_over: int = 0  # images, redirects and the like
    results: list[Imported] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def has_pages(self) -> bool:
        """Whether any imported page is stored."""
        return bool(self.counts[OK] or self.counts[UNCHANGED])

    def add(self, results: Sequence[Imported]) -> None:
        self.counts.update(result.outcome for result in results)
        self.results += results[: max(MAX_RESULTS - len(self.results), 0)]

    def warn(self, warning: str) -> None:
        if len(self.warnings) < MAX_RESULTS:
            self.warnings.append(warning)


Progress = Callable[[ImportReport], None]


async def import_pages(
    database: Database,
    settings: Settings,
    sources: Sequence[Source],
    *,
    actor: str,
    only: Collection[str] = (),
    approve: Sequence[Submission] = (),
    progress: Progress | None = None,
) -> ImportReport:
    """Import saved pages as snapshots.

    `only` names the domains whose pages are wanted, all by default. Domains in `approve` that are
    new or await review are approved for this on behalf of `actor`; none of their pages are fetched.
    """
    report = ImportReport()
    async with AsyncExitStack() as stack:
        originals = stack.enter_context(closing(Originals()))
        importer = await stack.enter_async_context(
            _importer(database, settings, actor, only, approve)
        )
        for source in sources:
            items = source.read(settings.max_decoded_bytes, originals)
            batcher = _Batcher(items, report)
            while batch := await asyncio.to_thread(batcher.next):
                report.add(await importer.run(source.name, batch))
                if progress is not None:
                    progress(report)
    return report


@asynccontextmanager
async def _importer(
    database: Database,
    settings: Settings,
    actor: str,
    only: Collection[str],
    approve: Sequence[Submission],
) -> AsyncIterator[BatchImporter]:
    """Resources of an import: a worker lease, kept alive, and segments written under it."""
    try:
        async with own_segments(
            Archive.of(settings),
            database,
            "import",
            lease_seconds=settings.worker_lease,
            limit=settings.segment_bytes,
        ) as (lease, archive):
            importer = BatchImporter(
                database,
                lease,
                archive,
                actor=actor,
                agent=settings.agent_token,
                approve={submission.domain: submission for submission in approve},
                only=only,
                archives_texts=settings.texts == "archive",
            )
            try:
                yield importer
            finally:
                await importer.close()
    except LOST_CONNECTION as error:
        raise UnavailableError(
            f"The database was lost during the import ({error}). What was imported is stored; "
            "run the same command again for the rest."
        ) from error


class _Batcher:
    """Cuts a source into batches: bounded in pages and bytes, no page twice in one."""

    def __init__(self, items: Items, report: ImportReport) -> None:
        self._items = items
        self._report = report
        self._held: ImportCandidate | None = None

    def next(self) -> list[ImportCandidate]:
        """The next batch; empty at the end of the source. Blocks while it reads."""
        now = datetime.now(UTC)
        batch: dict[bytes, ImportCandidate] = {}
        size = 0
        held, self._held = self._held, None
        if held is not None:
            batch[held.url_hash] = held
            size = len(held.page.body)
        while len(batch) < BATCH_PAGES and size < BATCH_BYTES:
            item = next(self._items, None)
            if item is None:
                break
            candidate = self._candidate(item, now)
            if candidate is None:
                continue
            if candidate.url_hash in batch:
                self._held = candidate
                break
            batch[candidate.url_hash] = candidate
            size += len(candidate.page.body)
        return list(batch.values())

    def _candidate(self, item: object, now: datetime) -> ImportCandidate | None:
        """A page with a known URL; everything else goes to the report."""
        if isinstance(item, SavedPage):
            try:
                return address(item, now)
            except MessorError as error:
                url = printable(item.url[:2000]) if item.url else None
                self._report.add([Imported(item.origin, ERROR, url, str(error))])
        elif isinstance(item, Unreadable):
            url = printable(item.url[:2000]) if item.url else None
            self._report.add([Imported(item.origin, ERROR, url, item.reason)])
        elif isinstance(item, Damage):
            self._report.warn(f"{item.origin}: {item.reason}")
        else:
            self._report.passed_over += 1
        return None
