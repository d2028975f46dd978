"""The flush: everything that visits did reaches PostgreSQL here, many pages at a time.

One flush is one transaction over many visits. It renews the worker lease, drops rows whose lane
was lost (in SQL, by token), and gives lanes back. Bytes are on disk before the rows that point at
them commit; the seen filter learns a URL only after. A row that PostgreSQL cannot take is found
by halving the batch and set aside, so that one bad page never costs the others.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Sequence
from logging import DEBUG

import asyncpg

from messor.archive import snapshots
from messor.archive.segments import SegmentWriter
from messor.archive.snapshots import Snapshot
from messor.core import clock
from messor.core.logs import log, room_logger
from messor.crawl import rows
from messor.crawl.batch import FlushBatch, RobotsWait
from messor.crawl.page_result import PageResult
from messor.errors import UnavailableError
from messor.fetch.outcome import Outcome
from messor.frontier import pages, runs, sitemaps
from messor.frontier.pages import NewPage
from messor.frontier.recrawl import RecrawlSpread
from messor.frontier.seen import SeenFilter
from messor.frontier.traps import PATTERN_BUDGET
from messor.ledger import errors, events
from messor.politeness import friction, lanes, robots, robots_redirects
from messor.politeness.lanes import Silence
from messor.politeness.lease import WorkerLease
from messor.politeness.robots import RETRY_SECONDS, Adopted, RobotsFile
from messor.store.database import Connection, Database
from messor.web.suffixes import registrable_domain
from messor.web.urls import host_of

# What PostgreSQL says of a value it cannot take: only these are blamed on a row.
BAD_ROW = (
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    asyncpg.ProgramLimitExceededError,
    ValueError,
    OverflowError,
)
FLUSHES = "SELECT flushes FROM messor.worker_leases WHERE id = $1"

logger = room_logger(__name__)


class Flusher:
    """Writes batches for one worker, under its lease."""

    def __init__(
        self, database: Database, lease: WorkerLease, archive: SegmentWriter, seen: SeenFilter
    ) -> None:
        self._database = database
        self._lease = lease
        self._archive = archive
        self._seen = seen
        self._host_ids: dict[str, int] = {}
        self._number = 0
        self.pages = 0
        self._ripple = RecrawlSpread()
        self.full_patterns: set[tuple[str, str]] = set()  # hosts' patterns that may grow no more

    def know_host(self, host: str, host_id: int) -> None:
        if len(self._host_ids) > 100_000:
            self._host_ids.clear()
        self._host_ids[host] = host_id

    async def flush(self, batch: FlushBatch) -> list[int]:
        """Commit a batch; answers the lanes that must be left."""
        if batch.parts is None:
            try:
                return await self._commit(batch)
            except BAD_ROW as error:
                if not batch.harvests:
                    raise
                if len(batch.harvests) == 1:
                    return await self._set_aside(batch, error)
                # From now on this batch is its halves, also when it must be tried again.
                batch.parts = batch.halves()
        first, second = batch.parts
        await self.flush(first)
        closed = await self.flush(second)
        batch.robots_ids = second.robots_ids
        return closed

    async def _commit(self, batch: FlushBatch) -> list[int]:
        if not all(self._has(h.snapshot) for h in batch.harvests if h.snapshot):
            raise UnavailableError("The segment that holds these pages could not be written.")
        if not batch.number:
            self._number += 1
            batch.number = self._number
        on_disk = asyncio.get_running_loop().run_in_executor(None, self._archive.sync)
        try:
            async with self._database.transaction() as connection:
                renewal = await self._lease.renew(connection, batch.number)
                if renewal.committed:
                    await self._write_robots(connection, batch)  # for their ids; changes nothing
                else:
                    await self._write(connection, batch)
                await on_disk
        finally:
            await asyncio.wait([on_disk])
            on_disk.exception()  # looked at: should the database have failed first, that is told
        self._lease.deadline = renewal.deadline
        self._learn(batch)
        if batch.harvests:
            log(logger, DEBUG, "flushed", number=batch.number, pages=len(batch.harvests))
        return renewal.closed

    async def log_sent(self, batches: Sequence[FlushBatch]) -> None:
        """Log the requests of batches that were not committed, and nothing else of them."""
        leaves = [leaf for batch in batches for leaf in batch.leaves]
        for harvest in (harvest for leaf in leaves for harvest in leaf.harvests):
            if harvest.fetched is not None and harvest.fetched.sent_at:
                harvest.cut_off()
        async with self._database.transaction() as connection:
            done = await connection.fetchval(FLUSHES, self._lease.id) or 0
            lost = [leaf for leaf in leaves if not 0 < leaf.number <= done]
            sent = [harvest for leaf in lost for harvest in (*leaf.harvests, *leaf.cut_off)]
            await rows.log_fetches(connection, self._lease, sent)

    def _has(self, kept: Snapshot) -> bool:
        has = self._archive.has
        return has(kept.place) and (kept.revisit is None or has(kept.revisit))

    async def _write(self, connection: Connection, batch: FlushBatch) -> None:
        """All statements of a flush, in the order that keeps locks in line: domains, lanes, runs, pages."""
        if batch.robots_waits:
            await self._send_elsewhere(connection, batch)
        found = await self._admit(connection, batch)
        await lanes.lock(connection, self._lanes_touched(batch, found))
        await runs.lock(connection, batch.joins)
        await self._write_robots(connection, batch)
        if found:
            await self._add_pages(connection, batch, found)
        if batch.harvests:
            await self._write_harvests(connection, batch.harvests)
        if batch.cut_off:
            await rows.log_fetches(connection, self._lease, batch.cut_off)
        await runs.join(connection, batch.joins)
        await self._write_elsewhere(connection, batch)
        await self._write_facts(connection, batch)
        if batch.given_back:
            await lanes.give_back(connection, self._lease.id, batch.given_back)

    async def _write_facts(self, connection: Connection, batch: FlushBatch) -> None:
        """What was met on the way: refused links, friction, silences, faults, events."""
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

    async def _send_elsewhere(self, connection: Connection, batch: FlushBatch) -> None:
        """See that robots files on other hosts are read under those hosts' own domains, or not."""
        names = [registrable_domain(host_of(wait.target.host)) or "" for wait in batch.robots_waits]
        known = await robots_redirects.known_domains(connection, names)
        kept: list[RobotsWait] = []
        for wait, name in zip(batch.robots_waits, names, strict=True):
            # A bare address belongs to no domain that anybody could have approved.
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

    async def _write_elsewhere(self, connection: Connection, batch: FlushBatch) -> None:
        """Who waits for a robots.txt on another host, and what they are told."""
        for wait in batch.robots_waits:
            host_id = wait.lane.host_id if wait.own else None
            place = (self._host_ids[wait.target.host], wait.target.url_hash)
            await robots_redirects.wait(
                connection, wait.page_id, host_id, place, hops=wait.hops, scheme=wait.scheme
            )
        if batch.robots_answers or batch.robots_waits:
            await robots_redirects.answer(connection, batch.robots_answers)

    async def _write_harvests(self, connection: Connection, harvests: list[PageResult]) -> None:
        worker = self._lease.id
        now = clock.now()
        kept = [(h.snapshot, h.age(now)) for h in harvests if h.snapshot is not None]
        ids = await snapshots.store(connection, worker, kept) if kept else {}
        for harvest in harvests:
            known = harvest.task.snapshot_id
            if harvest.is_good and known and ids.get(harvest.task.page_id) == known:
                harvest.outcome = Outcome.UNCHANGED  # other bytes, the same content
            rows.settle_cadence(harvest)
        seen = [presence for h in harvests if (presence := h.presence) is not None]
        if seen:
            await snapshots.mark_presence(connection, worker, seen)
        await rows.store_refusals(connection, worker, harvests)
        await rows.update_tasks(connection, worker, harvests, ids)
        await self._ripple.propagate(connection, rows.changes(harvests, ids))
        await rows.log_fetches(connection, self._lease, harvests)
        await rows.note_moved_pictures(connection, worker, harvests)

    async def _admit(self, connection: Connection, batch: FlushBatch) -> list[NewPage]:
        """The found pages that fit their domains' budgets; the rest is counted as refused."""
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
                self.know_host(host, host_id)
        found, trapped = await pages.admit_patterns(
            connection, found, self._host_ids, PATTERN_BUDGET
        )
        for page in trapped:
            batch.refused_links[page.finder, "trap"] += 1
            del batch.found[page.host, page.url_hash]
            batch.full_patterns.add((page.host, page.pattern or ""))
        held = sorted({harvest.lane.host_id for harvest in batch.harvests})
        await pages.add(connection, found, self._host_ids, held)

    def _lanes_touched(self, batch: FlushBatch, found: list[NewPage]) -> set[int]:
        """Lanes whose rows this flush changes and others may want too."""
        held = {harvest.lane.host_id for harvest in batch.harvests}
        foreign = {self._host_ids[page.host] for page in found if page.host in self._host_ids}
        joined = {self._host_ids[each.host] for each in batch.joins if each.host in self._host_ids}
        touched = (foreign - held) | joined
        touched.update(back.lane.host_id for back in batch.given_back)
        touched.update(adopted.host_id for adopted in batch.robots)
        touched.update(silence.lane.host_id for silence in batch.silences)
        touched.update(wait.lane.host_id for wait in batch.robots_waits)
        return touched

    def _learn(self, batch: FlushBatch) -> None:
        self.pages += len(batch.harvests)
        by_host: dict[str, list[bytes]] = {}
        for host, url_hash in batch.found:
            by_host.setdefault(host, []).append(url_hash)
        for host, hashes in by_host.items():
            self._seen.learn(host, hashes)
        self.full_patterns |= batch.full_patterns

    async def _set_aside(self, batch: FlushBatch, error: Exception) -> list[int]:
        """Quarantine the one page left in a batch that PostgreSQL refuses."""
        harvest = batch.harvests[-1]
        kept = harvest.snapshot
        batch.found.clear()
        harvest.quarantine(
            "cannot be stored: the database refuses a value of it, see: messor jobs errors"
        )
        harvest.forget_answers()
        fault = errors.LoggedError.of_task(
            harvest.task.page_id,
            "storage",
            error,
            traceback.format_exc(),
            {"url": harvest.task.url},
        )
        async with self._database.transaction() as connection:
            await errors.log(connection, [fault])
            await rows.update_tasks(connection, self._lease.id, [harvest], {})
            await rows.log_fetches(connection, self._lease, [harvest])
            if kept is not None:
                await snapshots.spare(connection, [(kept.page_id, kept.revisit or kept.place)])
        batch.harvests.pop()  # not before: should the connection be lost, it is tried again
        return await self._commit(batch)
