"""One batch of an import: from saved pages to a result for each, in one transaction."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import asyncpg

from messor.archive.segments import Place
from messor.archive.snapshots import TextPlace
from messor.archive.text_archiver import TextArchiver
from messor.archive.text_records import Text
from messor.archive.writer import Writer
from messor.crawl.sandboxed_reader import SandboxedReader
from messor.imports import store, terms
from messor.imports.prepare import ImportCandidate, Sight, Tangled, Unread, read, read_sandboxed
from messor.imports.store import ExistingPage, PreparedPage, Stored
from messor.imports.terms import Rules
from messor.ledger.events import Event, record
from messor.politeness import lanes
from messor.politeness.lease import WorkerLease
from messor.registry.domains import Submission
from messor.store.database import TRY_AGAIN, Connection, Database

# PostgreSQL errors about a value it cannot store: only these are attributed to a page.
BAD_ROW = (
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    asyncpg.ProgramLimitExceededError,
    ValueError,
    OverflowError,
)
_TRIES = 10
SANDBOX_BYTES = 190_000_000  # for a page of the largest size that is accepted

OK, UNCHANGED, REFUSED, ERROR = "ok", "unchanged", "refused", "error"


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of one page, or of a file without any."""

    origin: str
    outcome: str  # ok, unchanged, refused or error
    url: str | None = None
    reason: str | None = None
    page_id: int | None = None
    snapshot_id: int | None = None


def refused(candidate: ImportCandidate, reason: str, outcome: str = REFUSED) -> Imported:
    return Imported(candidate.page.origin, outcome, candidate.url.href, reason)


class BatchImporter:
    """Imports batches of one import under its worker lease."""

    def __init__(
        self,
        database: Database,
        lease: WorkerLease,
        archive: Writer,
        *,
        actor: str,
        agent: str,
        approve: Mapping[str, Submission],
        only: Collection[str],
        archives_texts: bool = False,
    ) -> None:
        self._database = database
        self._lease = lease
        self._archive = archive
        self._texts = TextArchiver(archive) if archives_texts else None
        self._actor = actor
        self._agent = agent
        self._sandbox = SandboxedReader(agent=agent, memory=SANDBOX_BYTES)
        self._approve = approve
        self._only = only
        # Of this batch: a retry appends nothing.
        self._places: dict[bytes, Place] = {}
        self._text_places: dict[bytes, TextPlace] = {}

    async def close(self) -> None:
        """End the processes that read pages."""
        await self._sandbox.close()

    async def run(self, source: str, candidates: Sequence[ImportCandidate]) -> list[Imported]:
        """Import pages of one source, no page twice; returns a result for each."""
        self._places.clear()
        self._text_places.clear()
        results: list[Imported] = []
        allowed = await self._allowed(candidates, results)
        sights = await self._read(allowed, results)
        results += await self._commit(source, sights)
        return results

    async def _allowed(
        self, candidates: Sequence[ImportCandidate], results: list[Imported]
    ) -> list[tuple[ImportCandidate, ExistingPage | None]]:
        """The pages that may be imported, before any work on them."""
        rules = await self._rules(candidates)
        async with self._database.connection() as connection:
            standings = await store.standings(connection, candidates)
        allowed = []
        for place, candidate in enumerate(candidates):
            objection = self._objection(rules, candidate)
            if objection is None:
                allowed.append((candidate, standings.get(place)))
            else:
                results.append(refused(candidate, objection))
        return allowed

    def _objection(self, rules: Rules, candidate: ImportCandidate) -> str | None:
        if self._only and candidate.domain not in self._only:
            return f"{candidate.domain} is not among the requested domains"
        return rules.objection(candidate)

    async def _rules(self, candidates: Sequence[ImportCandidate]) -> Rules:
        """The rules for a batch, after its named domains are approved."""
        async with self._database.transaction() as connection:
            rules = await terms.load(connection, candidates)
            wanted = {candidate.domain for candidate in candidates} & self._approve.keys()
            if not (new := terms.unapproved(rules, wanted)):
                return rules
            for name in sorted(new):
                await terms.approve(connection, self._approve[name], actor=self._actor)
            return await terms.load(connection, candidates)

    async def _read(
        self,
        allowed: Sequence[tuple[ImportCandidate, ExistingPage | None]],
        results: list[Imported],
    ) -> list[ImportCandidate | Sight]:
        """Read pages off the event loop; those whose exact bytes are known stay unchanged."""

        def read_all() -> list[ImportCandidate | Sight | Unread | Tangled]:
            return [
                candidate
                if standing is not None and standing.has(candidate)
                else read(candidate, self._agent)
                for candidate, standing in allowed
            ]

        pages: list[ImportCandidate | Sight] = []
        for each in await asyncio.to_thread(read_all):
            page = each
            if isinstance(page, Tangled):
                page = await read_sandboxed(page.candidate, self._sandbox)
            if isinstance(page, Unread):
                results.append(refused(page.candidate, page.reason, ERROR))
            else:
                pages.append(page)
        return pages

    async def _commit(
        self, source: str, pages: Sequence[ImportCandidate | Sight]
    ) -> list[Imported]:
        """Store pages; one that PostgreSQL rejects is found by bisection."""
        if not pages:
            return []
        for _ in range(_TRIES):
            try:
                return await self._transact(source, pages)
            except TRY_AGAIN:
                await asyncio.sleep(0.02)
            except BAD_ROW as error:
                if len(pages) == 1:
                    return [refused(_candidate(pages[0]), f"cannot be stored: {error}", ERROR)]
                middle = len(pages) // 2
                first = await self._commit(source, pages[:middle])
                return first + await self._commit(source, pages[middle:])
        return [refused(_candidate(page), "the database was too busy", ERROR) for page in pages]

    async def _transact(
        self, source: str, pages: Sequence[ImportCandidate | Sight]
    ) -> list[Imported]:
        """All statements of a batch, locking in a flush's order: domains, lanes, pages."""
        if any(isinstance(page, Sight) for page in pages):
            await self._archive.ready()
        await self._archive_texts(pages)
        async with self._database.transaction() as connection:
            await self._lease.renew(connection, 0)
            candidates = [_candidate(page) for page in pages]
            rules = await terms.load(connection, candidates, lock=True)
            fitting, results = await self._fitting(connection, pages, rules)
            kept = await self._place(connection, fitting, rules, results)
            stored = await store.store(connection, kept)
            await self._archive.commit_bytes()
            results += await self._settle(connection, kept, stored)
            await record(connection, self._events(source, candidates, results, rules))
        return results

    async def _fitting(
        self, connection: Connection, pages: Sequence[ImportCandidate | Sight], rules: Rules
    ) -> tuple[list[ImportCandidate | Sight], list[Imported]]:
        """Pages of domains that are still open and within budget."""
        results: list[Imported] = []
        fitting: list[ImportCandidate | Sight] = []
        known = await store.known_pages(connection, [_candidate(page) for page in pages])
        room = {name: domain.room for name, domain in rules.terms.items()}
        for page in pages:
            candidate = _candidate(page)
            objection = rules.objection(candidate)
            is_new = (candidate.url.authority, candidate.url_hash) not in known
            if objection is None and is_new and room[candidate.domain] == 0:
                objection = f"the page budget of {candidate.domain} is used up"
            if objection is not None:
                results.append(refused(candidate, objection))
                continue
            room[candidate.domain] -= is_new
            fitting.append(page)
        return fitting, results

    async def _place(
        self,
        connection: Connection,
        pages: Sequence[ImportCandidate | Sight],
        rules: Rules,
        results: list[Imported],
    ) -> list[PreparedPage]:
        """Add pages to the frontier and their bytes to the archive."""
        if not pages:
            return []
        candidates = [_candidate(page) for page in pages]
        hosts = await store.open_hosts(connection, candidates, rules.terms)
        await lanes.lock(connection, sorted(hosts.values()))
        await store.add_pages(connection, candidates, hosts, rules.terms)
        standings = await store.standings(connection, candidates, lock=True)
        kept = []
        for number, page in enumerate(pages):
            standing = standings[number]
            if standing.kind != "page":
                reason = f"this URL is known as a {standing.kind} file, not as a page"
                results.append(refused(candidates[number], reason))
            elif isinstance(page, Sight):
                text = self._text_places.get(page.candidate.url_hash)
                place = self._archived(page)
                kept.append(PreparedPage(page.candidate, standing, page, place, text))
            elif standing.has(page):
                kept.append(PreparedPage(page, standing))
            else:
                # Fetched since it was checked, and not read because it was known then.
                reason = "the page was fetched meanwhile; import it again"
                results.append(refused(page, reason, ERROR))
        return kept

    async def _archive_texts(self, pages: Sequence[ImportCandidate | Sight]) -> None:
        if self._texts is None:
            return
        new = {
            page.candidate.url_hash: (page.candidate.url.href, Text(page.markdown, page.data))
            for page in pages
            if isinstance(page, Sight)
            and page.markdown
            and page.candidate.url_hash not in self._text_places
        }
        places = await self._texts.append_all([*new.values()])
        self._text_places |= zip(new, places, strict=True)

    def _archived(self, sight: Sight) -> Place:
        key = sight.candidate.url_hash
        if key not in self._places:
            self._places[key] = self._archive.append(sight.record)
        return self._places[key]

    async def _settle(
        self, connection: Connection, kept: Sequence[PreparedPage], stored: Mapping[int, Stored]
    ) -> list[Imported]:
        """Determine each page's result, and make the newest content current."""
        results: list[Imported] = []
        changed: list[PreparedPage] = []
        seen: list[tuple[PreparedPage, str, int]] = []
        for page in kept:
            before, now = page.standing, stored.get(page.standing.page_id)
            snapshot_id = now.snapshot_id if now is not None else before.snapshot_id
            assert snapshot_id is not None
            moved = now is not None and snapshot_id != before.snapshot_id
            if now is not None and now.verdict is not None:
                results.append(refused(page.candidate, f"the page was judged {now.verdict}"))
                continue
            is_news = moved and (before.newest or (now is not None and now.fresh))
            outcome = OK if is_news else UNCHANGED
            if is_news:
                changed.append(page)
            if before.newest:
                seen.append((page, outcome, snapshot_id))
            candidate = page.candidate
            results.append(
                Imported(
                    candidate.page.origin,
                    outcome,
                    candidate.url.href,
                    page_id=before.page_id,
                    snapshot_id=snapshot_id,
                )
            )
        await store.describe(connection, changed, stored)
        await store.update_tasks(connection, seen)
        return results

    def _events(
        self,
        source: str,
        candidates: Sequence[ImportCandidate],
        results: Sequence[Imported],
        rules: Rules,
    ) -> list[Event]:
        """One event per domain: how many of its pages came from which file."""
        domains = {candidate.url.href: candidate.domain for candidate in candidates}
        counts: dict[str, Counter[str]] = {}
        for result in results:
            assert result.url is not None
            counts.setdefault(domains[result.url], Counter())[result.outcome] += 1
        return [
            Event(
                "pages.imported", self._actor, rules.terms[name].id, data={"file": source, **count}
            )
            for name, count in counts.items()
            if count[OK] or count[UNCHANGED]
        ]


def _candidate(page: ImportCandidate | Sight) -> ImportCandidate:
    return page.candidate if isinstance(page, Sight) else page
