"""A worker session: the work done under one worker lease.

It claims lanes, runs visits and flushes their results; its loops and the visits share one event
loop. When the lease is lost, the session and everything not yet committed is dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable

from messor.archive.objects import ArchiveAwayError
from messor.archive.storage import ArchiveSource
from messor.archive.writer import open_writer
from messor.core.heartbeat import Heartbeat
from messor.core.logs import log_ids, room_logger
from messor.core.metrics import Metrics
from messor.crawl.address_slots import AddressSlots
from messor.crawl.batch import FlushBatch
from messor.crawl.crash_markers import BlamedDomains, CrashMarker, bury_dead
from messor.crawl.flush import Flusher
from messor.crawl.flush_queue import FlushQueue
from messor.crawl.http_fallback import HttpFallback
from messor.crawl.images import ImageReader
from messor.crawl.keep import Keeper
from messor.crawl.links import LinkFilter
from messor.crawl.paid_calls import PaidCalls
from messor.crawl.preflight import KIND, PreflightReader
from messor.crawl.proofs import ProofReader
from messor.crawl.read import Reader
from messor.crawl.robots import RobotsReader
from messor.crawl.sent_log import SentLog
from messor.crawl.sitemaps import SitemapTaskReader
from messor.crawl.tally import count_committed
from messor.crawl.visit import Visit, Visitor
from messor.errors import UnavailableError
from messor.fetch.http import HttpFetcher
from messor.fetch.identity import keys as identity_keys
from messor.fetch.proxies.pool import ProxyPool
from messor.fetch.proxies.seal import seal_for
from messor.fetch.router import Router
from messor.fetch.terms import TermsFetcher
from messor.frontier import runs, tasks
from messor.frontier.seen import SeenFilter
from messor.frontier.tasks import Task
from messor.governance.payment import Payments, adapter_of
from messor.politeness import lanes, traffic
from messor.politeness.lane_share import PATIENCE, FairShare
from messor.politeness.lanes import LOOK_AHEAD, Lane, WorkScope
from messor.politeness.lease import WorkerLease
from messor.politeness.robots import RobotsCache
from messor.settings import Settings
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database
from messor.store.space import Space
from messor.web.urls import parse

CLAIM_AT_ONCE = 128
POLL_SECONDS = 0.2  # how often an idle worker polls for lanes
REAP_SECONDS = 1.0
UPKEEP_SECONDS = 12 * 3600.0
URGENT_SECONDS = 0.01  # how long an urgent flush waits for further results
DRAIN_SECONDS = 25.0
FINAL_LOG_SECONDS = 2.0  # to log sent requests when a session ends abnormally
PROXY_SECONDS = 2.0
SPACE_SECONDS = 1.0  # how often disk space is checked
HALT_SECONDS = 0.2  # how often the traffic halt is checked during visits
IDLE_HALT_SECONDS = 0.5  # without visits; claims check it by themselves, probes of proxies do not
HANG_SECONDS = 900.0  # beyond its time, after which a visit is cancelled: its last page hangs
FLUSHING = "flushing"
SLOW_SHARE = 4  # at most one visit in four is to a slow host

EVERYTHING = WorkScope()

logger = room_logger(__name__)

Repair = Callable[[], Awaitable[None]]


class WorkerSession:
    """The work done under one lease."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        fetcher: HttpFetcher,
        lease: WorkerLease,
        *,
        router: Router,
        pool: ProxyPool,
        archive: ArchiveSource,
        name: str,
        seen: SeenFilter,
        sent_log: SentLog,
        outcomes: Counter[str],
        stop: asyncio.Event,
        repair: Repair,
        errand: WorkScope = EVERYTHING,
        space: Space,
        heartbeat: Heartbeat | None = None,
        metrics: Metrics,
    ) -> None:
        self._metrics = metrics
        self._heartbeat = heartbeat or Heartbeat()
        self._scope = errand
        self._settings = settings
        self._database = database
        self._lease = lease
        self._outcomes = outcomes
        self._sent_log = sent_log
        self._stop = stop
        self._repair = repair
        self._space = space
        self._flushing = asyncio.Lock()  # numbers and bytes of flushes are written in order
        self._uncommitted: FlushBatch | None = None  # taken from the flush queue, not committed yet
        self._visits: dict[asyncio.Task[None], Lane] = {}
        self._seconds_of: Counter[asyncio.Task[None]] = Counter()  # how long each visit has run
        self._changed = asyncio.Event()
        self._begun = asyncio.Event()  # visits have started
        self._started: dict[int, int] = {}  # tokens of lanes whose visit has started, by host
        self._share = FairShare(database, settings.concurrency)
        # A claim's response was lost: we may hold lanes without knowing.
        self._claim_uncertain = False
        self._archive = open_writer(archive, database, lease, name, settings.segment_bytes)
        self._robots_cache = RobotsCache(database, settings.agent_token)
        self._flush_queue = FlushQueue(self._robots_cache, pages=settings.flush_pages)
        self._flusher = Flusher(
            database, lease, self._archive, seen, archives_texts=settings.texts == "archive"
        )
        self._address_slots = AddressSlots(
            database,
            lease,
            fetcher,
            slots=settings.address_slots,
            exempt=settings.shared_address_ranges,
        )
        self._markers_folder = settings.data_dir / "marks"
        self._crash_marker = CrashMarker(self._markers_folder, lease.id)
        self._blamed = BlamedDomains(self._markers_folder)
        self._pool, self._guard, self._signer = pool, fetcher.guard, fetcher.signer
        terms, agent = TermsFetcher(fetcher, pool), settings.agent_token
        link_filter = LinkFilter(seen, settings.max_redirects, self._flusher.full_patterns)
        self._reader = Reader(link_filter, self._crash_marker, self._blamed, agent=agent)
        self._visitor = Visitor(
            terms,
            router,
            self._reader,
            Keeper(self._archive, self._flush_queue, link_filter, agent=agent),
            self._flush_queue,
            robots=RobotsReader(terms, self._flush_queue, agent=agent),
            sitemaps=SitemapTaskReader(self._flush_queue, link_filter),
            images=ImageReader(self._flush_queue, self._archive, agent=agent),
            proofs=ProofReader(database, self._flush_queue),
            preflights=PreflightReader(terms, database, agent=agent),
            http_fallback=HttpFallback(self._flush_queue, link_filter),
            paid_calls=PaidCalls(database, router.paid),
            payments=Payments(database, adapter_of(settings)),
            crash_marker=self._crash_marker,
            agent=agent,
            metrics=metrics,
        )

    @property
    def visits(self) -> int:
        return len(self._visits)

    async def run(self) -> None:
        """Work until stopped; raises LeaseLostError when the lease was taken away."""
        await self._reopen_archive()  # if it cannot be opened yet, each flush tries again
        flushing = asyncio.create_task(self._flush_loop())
        others = [
            asyncio.create_task(self._claim_loop()),
            asyncio.create_task(self._watch_lease()),
            asyncio.create_task(self._watch_halt()),
            asyncio.create_task(self._reap_loop()),
            asyncio.create_task(self._upkeep_loop()),
            asyncio.create_task(self._proxy_loop()),
            asyncio.create_task(self._identity_loop()),
            asyncio.create_task(self._watch_space()),
        ]
        stopping = asyncio.create_task(self._wait_for_stop())
        try:
            done, _ = await asyncio.wait(
                [flushing, stopping, *others], return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                task.result()
            await self._drain(flushing, others)
        finally:
            self._heartbeat.end_all()
            with self._heartbeat.during("ending a session"):
                await _cancel([flushing, stopping, *others, *self._visits])
                await self._log_unstored()
                self._archive.abandon()
                await self._reader.close()
            self._crash_marker.close()

    async def _wait_for_stop(self) -> None:
        await self._stop.wait()

    async def _drain(self, flushing: asyncio.Task[None], others: list[asyncio.Task[None]]) -> None:
        """Finish the pages in progress, commit everything, end the lease."""
        await _cancel(others)
        self._visitor.stop()
        await self._wait_for_visits(flushing)
        await _cancel(list(self._visits))
        async with self._flushing:  # never during a flush
            await _cancel([flushing])
        if not flushing.cancelled():
            flushing.result()  # the lease was lost meanwhile: nothing more can be committed
        await self._flush_once()
        await self._archive.seal()
        await self._pool.write()
        async with self._database.transaction() as connection:
            await self._lease.end(connection)

    async def _wait_for_visits(self, flushing: asyncio.Task[None]) -> None:
        """Wait until the visits have ended, as long as their results are committed."""
        if not self._visits:
            return
        ended = asyncio.create_task(_all_of(list(self._visits)))
        await asyncio.wait(
            [ended, flushing], timeout=DRAIN_SECONDS, return_when=asyncio.FIRST_COMPLETED
        )
        await _cancel([ended])

    async def _claim_loop(self) -> None:
        while True:
            self._heartbeat.beat("claiming lanes")
            claimed = 0
            wanted = min(self._settings.concurrency - len(self._visits), CLAIM_AT_ONCE)
            if wanted > 0 and self._may_claim:
                try:
                    if self._claim_uncertain:
                        await lanes.disown(self._database, self._lease, self._started)
                        self._claim_uncertain = False
                    with self._metrics.stage("claim"):
                        claimed = await self._claim(wanted)
                except LOST_CONNECTION + TRY_AGAIN:
                    self._claim_uncertain = True
                    await asyncio.sleep(POLL_SECONDS)
            if claimed == 0 or claimed < wanted:
                self._changed.clear()
                await _wait(self._changed, POLL_SECONDS)

    @property
    def _may_claim(self) -> bool:
        return (
            self._flush_queue.room.is_set()
            and self._lease.remaining > 0
            and not self._visitor.lacks_space
        )

    async def _claim(self, wanted: int) -> int:
        settings = self._settings
        slow = sum(lane.slow for lane in self._visits.values())
        room = await self._share.lanes() - len(self._visits)
        claimed = await lanes.claim(
            self._database,
            self._lease,
            min(wanted, room) if room > 0 else wanted,
            settings.default_delay,
            settings.address_slots,
            slow_wanted=max(settings.concurrency // SLOW_SHARE - slow, 0),
            jitter=settings.delay_jitter,
            ahead=LOOK_AHEAD if room > 0 else -PATIENCE,
            only=self._scope,
        )
        if not claimed:
            return 0
        ids = [lane.host_id for lane in claimed]
        due = await tasks.due(
            self._database, ids, settings.visit_pages, LOOK_AHEAD, self._scope.run_id
        )
        await self._attach_runs(claimed, due)
        robots = await self._robots_cache.get(
            {robots_id for lane in claimed for robots_id in lane.robots_ids.values()}
        )
        for lane in claimed:
            for scheme, robots_id in lane.robots_ids.items():
                if robots_id in robots:
                    lane.adopt(scheme, robots[robots_id])
            self._flusher.remember_host(lane.host, lane.host_id)
            work = due.get(lane.host_id, [])
            if not lane.approved:
                work = [task for task in work if task.kind == KIND]
            visit = asyncio.create_task(self._visit(lane, work))
            self._visits[visit] = lane
            self._begun.set()
            self._metrics.visits.set(len(self._visits))
            self._started[lane.host_id] = lane.token
            visit.add_done_callback(self._visit_done)
        return len(claimed)

    async def _attach_runs(self, claimed: list[Lane], due: dict[int, list[Task]]) -> None:
        """Attach the open crawl runs of their domain to the tasks that belong to them."""
        run_ids = {run_id for lane in claimed for run_id in lane.runs}
        if not run_ids:
            return
        of_page = {task.page_id: task for work in due.values() for task in work}
        for page_id, turns in (
            await runs.turns(self._database, list(of_page), list(run_ids))
        ).items():
            of_page[page_id].take_part(turns)

    async def _visit(self, lane: Lane, due: list[Task]) -> None:
        """Take the host's address slots, then visit; the lane is given back whatever happens."""
        url = parse(due[0].url) if due else None
        # A URL that the address guard refuses is not even resolved.
        if url is not None and self._guard.refusal_of_url(url) is None:
            may = False
            try:
                may = await self._address_slots.settle(lane, url.port)
            except LOST_CONNECTION + TRY_AGAIN:
                may = False
            finally:
                if not may:
                    self._flush_queue.give_back(lane, 0, "not_begun")
            if not may:
                return
        with log_ids(visit=f"{lane.host_id}-{lane.token}"):
            await self._visitor.hold(Visit(lane, due, self._settings.visit_seconds))

    def _visit_done(self, visit: asyncio.Task[None]) -> None:
        self._visits.pop(visit, None)
        self._metrics.visits.set(len(self._visits))
        del self._seconds_of[visit]
        self._flush_queue.hurry_if_idle(len(self._visits))
        if not visit.cancelled() and (error := visit.exception()) is not None:
            asyncio.get_running_loop().call_exception_handler(
                {"message": "a visit failed", "exception": error, "task": visit}
            )

    async def _watch_lease(self) -> None:
        """Cancel all visits when the lease expires before it could be renewed."""
        while True:
            remaining = self._lease.remaining
            if remaining <= 0:
                for visit in list(self._visits):
                    visit.cancel()
            await asyncio.sleep(max(remaining, 0.05))

    async def _watch_halt(self) -> None:
        """Cancel all visits as soon as traffic is halted; their pages stay due."""
        while True:
            self._heartbeat.beat("watching for a halt")
            with contextlib.suppress(*LOST_CONNECTION, *TRY_AGAIN):
                halted = await traffic.in_force(self._database) is not None
                begins = halted and not self._lease.is_halted
                self._lease.is_halted = halted  # set first: from here on no permit can be used
                for visit in list(self._visits) if begins else ():
                    visit.cancel()
            self._begun.clear()
            is_watched = self._visits or self._lease.is_halted
            await _wait(self._begun, HALT_SECONDS if is_watched else IDLE_HALT_SECONDS)

    async def _watch_space(self) -> None:
        """While a disk is nearly full, end visits and claim no lanes."""
        while True:
            self._heartbeat.beat("watching visits")
            self._visitor.lacks_space = self._space.is_low
            self._end_hanging_visits()
            await asyncio.sleep(SPACE_SECONDS)

    def _end_hanging_visits(self) -> None:
        """Cancel visits that hang, so that their lanes go on; called every SPACE_SECONDS.

        A visit ends after its time and its current page, which has limits of its own.
        """
        for visit, lane in self._visits.items():
            self._seconds_of[visit] += int(SPACE_SECONDS)
            if self._seconds_of[visit] > self._settings.visit_seconds + HANG_SECONDS:
                logger.error("The visit to %s hangs and is cancelled", lane.host)
                visit.cancel()

    async def _reap_loop(self) -> None:
        while True:
            self._heartbeat.beat("taking over from dead workers")
            with contextlib.suppress(*LOST_CONNECTION, *TRY_AGAIN):
                # Before `reap`: a page is blamed before its lane becomes claimable.
                await bury_dead(self._database, self._markers_folder)
                await self._blamed.refresh(self._database)
                await lanes.reap(self._database)
            await asyncio.sleep(REAP_SECONDS)

    async def _upkeep_loop(self) -> None:
        """Create partitions of the log tables well ahead of time."""
        while True:
            with contextlib.suppress(*LOST_CONNECTION, *TRY_AGAIN):
                await self._database.fetchval("SELECT messor.make_all_partitions()")
            await asyncio.sleep(UPKEEP_SECONDS)

    async def _proxy_loop(self) -> None:
        """Maintain the proxy pool: store usage, reload active proxies, probe failed ones."""
        while True:
            with contextlib.suppress(*LOST_CONNECTION, *TRY_AGAIN):
                if not self._lease.is_halted:  # probing sends requests
                    await self._pool.tend()
            await asyncio.sleep(PROXY_SECONDS)

    async def _identity_loop(self) -> None:
        """Look for another identity key: rotation needs no restart."""
        seal = seal_for(self._settings)
        while True:
            await asyncio.sleep(identity_keys.RELOAD_SECONDS)
            if self._signer is not None:
                with contextlib.suppress(*LOST_CONNECTION, *TRY_AGAIN):
                    await identity_keys.refresh(self._signer, self._database, seal)

    async def _flush_loop(self) -> None:
        """Flush when the batch is full, urgent or old; renew the lease in any case."""
        heartbeat = min(self._lease.seconds / 4, 5.0)
        while True:
            # While visits run, changes that people make to their tasks must arrive soon.
            self._heartbeat.beat(FLUSHING)
            idle = self._settings.flush_seconds if self._visits else heartbeat
            await _wait(self._flush_queue.anything, idle)
            if self._flush_queue.anything.is_set():
                await _wait(self._flush_queue.urgent, self._settings.flush_seconds)
                if (
                    self._flush_queue.urgent.is_set()
                    and self._flush_queue.size < self._settings.flush_pages
                ):
                    await asyncio.sleep(URGENT_SECONDS)
            await self._flush_once()

    async def _flush_once(self) -> None:
        """Commit the current batch, however long the database is unavailable."""
        async with self._flushing:
            batch = self._flush_queue.take()
            self._uncommitted = batch
            closed = await self._flush(batch)
            self._uncommitted = None
            await self._reopen_archive()
            self._after_commit(batch, closed)

    async def _log_unstored(self) -> None:
        """Log requests that were sent; without the lease nothing else of them may be stored."""
        batches = [self._flush_queue.take()]
        if self._uncommitted is not None:
            batches += self._uncommitted.leaves
        self._sent_log.add(self._flusher, batches)
        await self._sent_log.write(FINAL_LOG_SECONDS)

    async def _flush(self, batch: FlushBatch) -> list[int]:
        while True:
            self._heartbeat.beat(FLUSHING)
            try:
                with self._metrics.stage("flush"):
                    return await self._flusher.flush(batch)
            except LOST_CONNECTION:
                self._pause_visits()
                await self._repair()
                await asyncio.sleep(0.25)
            except TRY_AGAIN:
                await asyncio.sleep(0.02)
            except ArchiveAwayError:
                # The bytes stay in memory, and the pages with them, until the lease ends.
                self._pause_visits()
                await asyncio.sleep(1)
            except UnavailableError:
                # The archive cannot be written: pages with bytes in it are fetched again.
                batch.drop_snapshots()
                self._flush_queue.drop_snapshots()
                self._archive.abandon()
                await asyncio.sleep(1)

    def _pause_visits(self) -> None:
        """Start no visits while results cannot be stored."""
        self._flush_queue.room.clear()

    async def _reopen_archive(self) -> None:
        try:
            await self._archive.ready()
        except (UnavailableError, *LOST_CONNECTION):
            self._pause_visits()
        else:
            self._flush_queue.room.set()

    def _after_commit(self, batch: FlushBatch, closed: list[int]) -> None:
        self._flush_queue.closed = set(closed)
        for result in batch.results:
            self._outcomes[result.outcome] += 1
        count_committed(self._metrics, batch)
        for waiter in batch.waiting:
            if not waiter.done():
                waiter.set_result(None)
        for back in batch.given_back:
            if self._started.get(back.lane.host_id) == back.lane.token:
                del self._started[back.lane.host_id]
        if batch.given_back or batch.found:
            self._changed.set()


async def _wait(event: asyncio.Event, seconds: float) -> None:
    if event.is_set():
        return
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def _all_of(tasks: list[asyncio.Task[None]]) -> None:
    await asyncio.wait(tasks)


async def _cancel(cancelled: list[asyncio.Task[None]]) -> None:
    for task in cancelled:
        task.cancel()
    if cancelled:
        await asyncio.wait(cancelled)
    for task in cancelled:
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not warn about it
