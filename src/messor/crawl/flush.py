"""The flush: writes the results of many visits to PostgreSQL in one transaction.

It renews the worker lease, drops rows whose lane was lost (in SQL, by token), and gives lanes
back. Bytes are on disk before the rows that point at them commit; the seen filter learns a URL
only after the commit. A row that PostgreSQL rejects is found by bisecting the batch and
quarantined, so that one bad page never costs the others.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Sequence
from logging import DEBUG

import asyncpg

from messor.archive import snapshots
from messor.archive.snapshots import Snapshot
from messor.archive.text_archiver import TextArchiver
from messor.archive.writer import Writer
from messor.core import clock
from messor.core.logs import log, room_logger
from messor.crawl import rows
from messor.crawl.batch import FlushBatch, RobotsWait
from messor.crawl.fetch_errors import fault_of
from messor.crawl.page_result import PageResult
from messor.errors import UnavailableError
from messor.frontier import pages, runs, sitemaps
from messor.frontier.pages import NewPage
from messor.frontier.recrawl import RecrawlSpread
from messor.frontier.seen import SeenFilter
from messor.frontier.traps import PATTERN_BUDGET
from messor.governance import prices
from messor.ledger import errors, events
from messor.politeness import friction, lanes, limits, robots, robots_redirects
from messor.politeness.lanes import Silence
from messor.politeness.lease import WorkerLease
from messor.politeness.robots import RETRY_SECONDS, Adopted, RobotsFile
from messor.store.database import Connection, Database
from messor.web.suffixes import registrable_domain
from messor.web.urls import host_of

# Errors caused by a value in a row; any other error is not blamed on a page.
BAD_ROW = (
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    asyncpg.ProgramLimitExceededError,
    ValueError,
    OverflowError,
)
FLUSHES = "SELECT flushes FROM messor.worker_leases WHERE id = $1 FOR NO KEY UPDATE"
FLUSHED = "UPDATE messor.worker_leases SET flushes = greatest(flushes, $2) WHERE id = $1"

logger = room_logger(__name__)


class Flusher:
    """Writes batches for one worker, under its lease."""

    def __init__(
        self,
        database: Database,
        lease: WorkerLease,
        archive: Writer,
        seen: SeenFilter,
        *,
        archives_texts: bool = False,
    ) -> None:
        self._database = database
        self._lease = lease
        self._archive = archive
        self._texts = TextArchiver(archive) if archives_texts else None
        self._seen = seen
        self._host_ids: dict[str, int] = {}
        self._number = 0
        self.pages = 0
        self._recrawl_spread = RecrawlSpread()
        self.full_patterns: set[tuple[str, str]] = (
            set()
        )  # patterns of hosts that have used up their budget

    def remember_host(self, host: str, host_id: int) -> None:
        if len(self._host_ids) > 100_000:
            self._host_ids.clear()
        self._host_ids[host] = host_id

    async def flush(self, batch: FlushBatch) -> list[int]:
        """Commit a batch; return the host ids of lanes whose domain may no longer be visited."""
        if batch.parts is None:
            try:
                return await self._commit(batch)
            except BAD_ROW as error:
                if not batch.results:
                    raise
                if len(batch.results) == 1:
                    return await self._quarantine_page(batch, error)
                # From here on the batch is written as its halves, also when it is retried.
                batch.parts = batch.halves()
        first, second = batch.parts
        await self.flush(first)
        closed = await self.flush(second)
        batch.robots_ids = second.robots_ids
        return closed

    async def _commit(self, batch: FlushBatch) -> list[int]:
        if self._texts is not None:
            kept = [(h.task.url, h.snapshot) for h in batch.results if h.snapshot]
            await self._texts.archive(self._database, kept)
        if not all(self._has(h.snapshot) for h in batch.results if h.snapshot):
            raise UnavailableError("The archive segment of these pages could not be written.")
        self._assign_number(batch)
        self._archive.cut(batch.segment_ids)
        on_disk = asyncio.get_running_loop().run_in_executor(None, self._archive.sync)
        try:
            async with self._database.transaction() as connection:
                renewal = await self._lease.renew(connection, batch.number)
                if renewal.committed:
                    await self._write_robots(connection, batch)  # only to get their ids
                else:
                    await self._write(connection, batch)
                await on_disk
        finally:
            await asyncio.wait([on_disk])
            on_disk.exception()  # retrieved here; if the database failed first, its error wins
        self._lease.deadline = renewal.deadline
        self._remember(batch)
        if batch.results:
            log(logger, DEBUG, "flushed", number=batch.number, pages=len(batch.results))
        return renewal.closed

    async def log_sent(self, batches: Sequence[FlushBatch]) -> None:
        """Log the requests of batches that were not committed; store nothing else of them.

        Numbered like a flush, so that what was logged is not logged again when it is retried.
        """
        leaves = [leaf for batch in batches for leaf in batch.leaves]
        for leaf in leaves:
            self._assign_number(leaf)
        for result in (result for leaf in leaves for result in leaf.results):
            if result.fetched is not None and result.fetched.sent_at:
                result.cut_off()
        async with self._database.transaction() as connection:
            done = await connection.fetchval(FLUSHES, self._lease.id) or 0
            lost = [leaf for leaf in leaves if leaf.number > done]
            sent = [result for leaf in lost for result in (*leaf.results, *leaf.cut_off)]
            await rows.log_fetches(connection, self._lease, sent)
            await connection.execute(FLUSHED, self._lease.id, self._number)

    def _assign_number(self, batch: FlushBatch) -> None:
        if not batch.number:
            self._number += 1
            batch.number = self._number

    def _has(self, kept: Snapshot) -> bool:
        has = self._archive.has
        return has(kept.place) and all(has(place) for place in kept.own_records)

    async def _write(self, connection: Connection, batch: FlushBatch) -> None:
        """Run all statements of a flush in lock order: domains, lanes, runs, pages."""
        if batch.robots_waits:
            await self._admit_robots_waits(connection, batch)
        found = await self._admit(connection, batch)
        await lanes.lock(connection, self._lanes_touched(batch, found))
        await runs.lock(connection, batch.joins)
        await self._write_robots(connection, batch)
        if found:
            await self._add_pages(connection, batch, found)
        if batch.results:
            await self._write_results(connection, batch.results)
        if batch.cut_off:
            await rows.log_fetches(connection, self._lease, batch.cut_off)
        await limits.count(
            connection, self._lease.id, rows.received([*batch.results, *batch.cut_off])
        )
        await runs.join(connection, batch.joins)
        await self._write_robots_waits(connection, batch)
        await self._write_facts(connection, batch)
        if batch.given_back:
            await lanes.give_back(connection, self._lease.id, batch.given_back)

    async def _write_facts(self, connection: Connection, batch: FlushBatch) -> None:
        """Store what visits recorded beside pages: refused links, friction, silences, faults, events."""
        worker = self._lease.id
        if batch.sitemaps:
            await sitemaps.store(connection, batch.sitemaps)
        if batch.refused_links:
            await pages.refuse_links(connection, batch.refused_links)
        if batch.friction:
            await friction.record(connection, worker, batch.friction)
        if batch.silences:
            await lanes.silence(connection, worker, batch.silences)
        if batch.faults:
            await errors.log(connection, batch.faults)
        if batch.events:
            await events.record(connection, batch.events)

    async def _write_robots(self, connection: Connection, batch: FlushBatch) -> None:
        if batch.robots:
            batch.robots_ids = await robots.store(connection, self._lease.id, batch.robots)

    async def _admit_robots_waits(self, connection: Connection, batch: FlushBatch) -> None:
        """Assign redirected robots files to the target host's domain; drop those not permitted."""
        names = [registrable_domain(host_of(wait.target.host)) or "" for wait in batch.robots_waits]
        known = await robots_redirects.known_domains(connection, names)
        kept: list[RobotsWait] = []
        for wait, name in zip(batch.robots_waits, names, strict=True):
            # A bare IP address belongs to no domain that could be approved.
            domain_id, may = known.get(name, (wait.target.domain_id, name != ""))
            if may:
                wait.target.domain_id = domain_id
                kept.append(wait)
                continue
            batch.found.pop((wait.target.host, wait.target.url_hash), None)
            if wait.own:
                file = RobotsFile.out_of_reach(wait.target.host)
                batch.robots.append(Adopted(wait.lane.host_id, wait.lane.token, wait.scheme, file))
                batch.silences.append(Silence(wait.lane, RETRY_SECONDS, file.reason))
        batch.robots_waits = kept

    async def _write_robots_waits(self, connection: Connection, batch: FlushBatch) -> None:
        """Store which tasks wait for a robots.txt on another host, and resolve those that can be."""
        for wait in batch.robots_waits:
            host_id = wait.lane.host_id if wait.own else None
            place = (self._host_ids[wait.target.host], wait.target.url_hash)
            await robots_redirects.wait(
                connection, wait.page_id, host_id, place, hops=wait.hops, scheme=wait.scheme
            )
        if batch.robots_results or batch.robots_waits:
            await robots_redirects.resolve(connection, batch.robots_results)

    async def _write_results(self, connection: Connection, results: list[PageResult]) -> None:
        worker = self._lease.id
        now = clock.now()
        kept = [(h.snapshot, h.age(now)) for h in results if h.snapshot is not None]
        ids = await snapshots.store(connection, worker, kept) if kept else {}
        for result in results:
            known = result.task.snapshot_id
            if result.is_good and known and ids.get(result.task.page_id) == known:
                result.mark_unchanged()  # other bytes, the same content
            rows.settle_cadence(result)
        seen = [presence for h in results if (presence := h.presence) is not None]
        if seen:
            await snapshots.mark_presence(connection, worker, seen)
        await rows.store_refusals(connection, worker, results)
        await rows.update_tasks(connection, worker, results, ids)
        await self._recrawl_spread.propagate(connection, rows.changes(results, ids))
        await rows.log_fetches(connection, self._lease, results)
        if failures := [fault for h in results if (fault := fault_of(h)) is not None]:
            await errors.log(connection, failures)
        if quoted := [page for h in results if (page := rows.quoted_page(h)) is not None]:
            await prices.note(connection, quoted)
        await rows.store_moved_images(connection, worker, results)

    async def _admit(self, connection: Connection, batch: FlushBatch) -> list[NewPage]:
        """Return the found pages that fit their domains' budgets; count the others as refused."""
        if not batch.found:
            return []
        admitted, refused = await pages.admit(connection, list(batch.found.values()))
        batch.refused_links.update((page.finder, "budget") for page in refused)
        batch.found = {(page.host, page.url_hash): page for page in admitted}
        return admitted

    async def _add_pages(
        self, connection: Connection, batch: FlushBatch, found: list[NewPage]
    ) -> None:
        unknown = {page.host: page for page in found if page.host not in self._host_ids}
        if unknown:
            for host, host_id in (await pages.open_hosts(connection, unknown)).items():
                self.remember_host(host, host_id)
        found, trapped = await pages.admit_patterns(
            connection, found, self._host_ids, PATTERN_BUDGET
        )
        for page in trapped:
            batch.refused_links[page.finder, "trap"] += 1
            del batch.found[page.host, page.url_hash]
            batch.full_patterns.add((page.host, page.pattern or ""))
        held = sorted({result.lane.host_id for result in batch.results})
        await pages.add(connection, found, self._host_ids, held)

    def _lanes_touched(self, batch: FlushBatch, found: list[NewPage]) -> set[int]:
        """Host ids of lanes that this flush changes and other transactions may lock too."""
        held = {result.lane.host_id for result in batch.results}
        foreign = {self._host_ids[page.host] for page in found if page.host in self._host_ids}
        joined = {self._host_ids[each.host] for each in batch.joins if each.host in self._host_ids}
        touched = (foreign - held) | joined
        touched.update(back.lane.host_id for back in batch.given_back)
        touched.update(adopted.host_id for adopted in batch.robots)
        touched.update(silence.lane.host_id for silence in batch.silences)
        touched.update(wait.lane.host_id for wait in batch.robots_waits)
        return touched

    def _remember(self, batch: FlushBatch) -> None:
        self.pages += len(batch.results)
        by_host: dict[str, dict[bytes, int]] = {}
        for (host, url_hash), page in batch.found.items():
            by_host.setdefault(host, {})[url_hash] = page.depth
        for host, depths in by_host.items():
            self._seen.learn(host, depths)
        self.full_patterns |= batch.full_patterns

    async def _quarantine_page(self, batch: FlushBatch, error: Exception) -> list[int]:
        """Quarantine the only page of a batch that PostgreSQL rejects."""
        result = batch.results[-1]
        kept = result.snapshot
        batch.found.clear()
        result.quarantine(
            "cannot be stored: the database rejects one of its values; see: messor jobs errors",
            "storage",
        )
        result.drop_responses()
        fault = errors.LoggedError.of_task(
            result.task.page_id,
            "storage",
            error,
            traceback.format_exc(),
            {"url": result.task.url},
        )
        async with self._database.transaction() as connection:
            await errors.log(connection, [fault])
            await rows.update_tasks(connection, self._lease.id, [result], {})
            await rows.log_fetches(connection, self._lease, [result])
            if kept is not None:
                spare = [(kept.page_id, place) for place in kept.own_records]
                await snapshots.spare(connection, spare)
        batch.results.pop()  # only now: after a lost connection it is retried
        return await self._commit(batch)
