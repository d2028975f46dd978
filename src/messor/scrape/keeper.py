"""The keeper: notes which pages of open jobs are done, follows redirects, and ends what is complete.

It runs beside the web server. Each job is looked after by one keeper at a time, under a lease of
seconds, so that any number of servers may run one and a lost one is replaced.
"""

from __future__ import annotations

import asyncio
from uuid import UUID

from messor.archive.storage import Archive
from messor.core.logs import room_logger
from messor.crawl import crawl_runs
from messor.errors import ConflictError, MessorError
from messor.frontier import runs
from messor.frontier.runs import CrawlRun
from messor.registry import domains
from messor.scrape import hooks, jobs, requests
from messor.scrape.jobs import COLUMNS, RUN, ScrapeJob
from messor.scrape.pages import MOST_HOPS, transact
from messor.scrape.refusals import ScrapeRefusedError
from messor.scrape.requests import AskedState
from messor.settings import Settings
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Connection, Database
from messor.web.urls import Url

logger = room_logger(__name__)

BUSY_SECONDS = 0.5  # between two looks while a job is open
IDLE_SECONDS = 10.0  # between two looks for jobs of other servers
LEASE_SECONDS = 5.0
CHUNK = 500
DAY = 86_400.0

CLAIM = f"""
UPDATE messor.scrape_jobs SET kept_until = messor.clock() + make_interval(secs => $1)
 WHERE id IN (SELECT id FROM messor.scrape_jobs
               WHERE ended_at IS NULL AND (kept_until <= messor.clock() OR id = ANY ($2::uuid[]))
               ORDER BY kept_until LIMIT 100 FOR UPDATE SKIP LOCKED)
RETURNING {COLUMNS}, expires_at <= messor.clock() AS is_over
"""
# Pages of a run that were done since the last look: by a fetch for it, or fresh when they joined.
DONE_OF_RUN = """
WITH done AS (
  SELECT m.page_id, p.url, t.outcome, t.snapshot_id, t.refusal, t.error_message, t.last_status,
         t.outcome IN ('ok', 'unchanged') AND t.snapshot_id IS NOT NULL AND t.refusal IS NULL AS is_good
    FROM messor.crawl_run_pages m JOIN messor.crawl_runs r ON r.id = m.run_id
    JOIN messor.crawl_tasks t ON t.page_id = m.page_id JOIN messor.pages p ON p.id = m.page_id
   WHERE m.run_id = $2 AND (NOT m.fetched OR t.last_fetched_at >= r.started_at
                            OR (t.refusal IS NOT NULL AND coalesce(t.due_at > messor.clock(), true)))
     AND coalesce(t.outcome, '') <> 'redirected'
     AND NOT EXISTS (SELECT FROM messor.scrape_job_pages o
                      WHERE o.job_id = $1 AND o.page_id = m.page_id)
   ORDER BY t.last_fetched_at, m.page_id LIMIT $3
)
INSERT INTO messor.scrape_job_pages (job_id, url, page_id, place, snapshot_id, code, error, done_at)
SELECT $1, d.url, d.page_id,
       CASE WHEN d.is_good THEN
         coalesce((SELECT max(o.place) FROM messor.scrape_job_pages o WHERE o.job_id = $1), 0)
         + count(*) FILTER (WHERE d.is_good) OVER (ORDER BY d.page_id ROWS UNBOUNDED PRECEDING) END,
       CASE WHEN d.is_good THEN d.snapshot_id END,
       CASE WHEN d.is_good THEN NULL WHEN d.refusal IS NOT NULL OR d.outcome = 'robots' THEN 'PAGE_REFUSED'
            WHEN d.outcome = 'not_found' THEN 'PAGE_MISSING'
            WHEN d.outcome = 'blocked' THEN 'PAGE_BLOCKED' ELSE 'PAGE_FAILED' END,
       CASE WHEN d.is_good THEN NULL
            ELSE coalesce(d.refusal, d.error_message, 'the outcome is ' || d.outcome) END,
       messor.clock()
  FROM done d
RETURNING page_id
"""
WAITING = """
SELECT o.id, o.page_id, o.hops, j.created_at FROM messor.scrape_job_pages o
  JOIN messor.scrape_jobs j ON j.id = o.job_id
 WHERE o.job_id = $1 AND o.done_at IS NULL ORDER BY o.id
"""
NOTE_DONE = """
WITH given AS (
  SELECT * FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[]) WITH ORDINALITY
           AS g (id, snapshot_id, code, error, number)
)
UPDATE messor.scrape_job_pages o
   SET snapshot_id = g.snapshot_id, code = g.code, error = g.error, done_at = messor.clock(),
       place = CASE WHEN g.snapshot_id IS NOT NULL THEN g.before + g.rank END
  FROM (SELECT given.*, count(snapshot_id) OVER (ORDER BY number ROWS UNBOUNDED PRECEDING) AS rank,
               coalesce((SELECT max(place) FROM messor.scrape_job_pages WHERE job_id = $1), 0) AS before
          FROM given) g
 WHERE o.id = g.id
"""
FOLLOW = "UPDATE messor.scrape_job_pages SET page_id = $2, hops = hops + 1 WHERE id = $1"
DOMAIN = "SELECT domain FROM messor.domains WHERE id = $1"


class JobKeeper:
    """Looks after jobs while the server runs."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._database = database
        self._archive = Archive.of(settings)
        self._wake = asyncio.Event()
        self._mine: set[UUID] = set()

    def wake(self) -> None:
        """Look now: a job was started."""
        self._wake.set()

    async def run(self) -> None:
        """Look after jobs until cancelled."""
        while True:
            open_jobs = 0
            try:
                open_jobs = await self.look()
            except (*LOST_CONNECTION, *TRY_AGAIN) as error:
                logger.warning("Scrape jobs wait for the database: %s", type(error).__name__)
            try:
                async with asyncio.timeout(BUSY_SECONDS if open_jobs else IDLE_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                continue
            finally:
                self._wake.clear()

    async def look(self) -> int:
        """One look at all jobs; returns how many are open."""
        rows = await self._database.fetch(CLAIM, LEASE_SECONDS, sorted(self._mine))
        self._mine = {row["id"] for row in rows}
        open_jobs = 0
        for row in rows:
            is_over = row["is_over"]
            job = ScrapeJob(**{name: row[name] for name in ScrapeJob.__slots__})
            if job.kind == "scrape":
                open_jobs += not is_over
                continue
            try:
                is_done = await self._look_at(job)
                if job.has_hook:
                    await self._tell(job)
                if is_done or is_over:
                    await self._end(job, is_over=is_over and not is_done)
                    continue
            except ConflictError:  # ended meanwhile
                continue
            except MessorError as error:
                logger.warning("Scrape job %s: %s", job.id, error)
            open_jobs += 1
        return open_jobs

    async def _end(self, job: ScrapeJob, *, is_over: bool) -> None:
        why = "It was not done within its time; what was fetched is kept." if is_over else None
        status = "failed" if is_over else "completed"
        code = "JOB_EXPIRED" if is_over else None

        async def act(connection: Connection) -> None:
            await jobs.end(connection, job, status, code, why)

        await transact(self._database, act)

    async def _tell(self, job: ScrapeJob) -> None:
        async def act(connection: Connection) -> None:
            await hooks.tell_pages(connection, job.id, job.kind)

        await transact(self._database, act)

    async def _look_at(self, job: ScrapeJob) -> bool:
        """Note what is done; returns whether that is all."""
        if job.run_id is not None:
            return await self._look_at_run(job, job.run_id)
        return await self._look_at_batch(job)

    async def _look_at_run(self, job: ScrapeJob, run_id: UUID) -> bool:
        database = self._database
        row = await database.fetchrow(RUN, run_id)
        if row is None:
            return True  # its domain was erased
        run = CrawlRun(**row)
        await runs.see(database, run.id)
        domain = await database.fetchval(DOMAIN, run.domain_id)
        expanded = await crawl_runs.expand(database, self._archive, run, domain)
        standing = await runs.standing(database, run.id, DAY)
        while len(await database.fetch(DONE_OF_RUN, job.id, run.id, CHUNK)) == CHUNK:
            continue
        if expanded or standing.remaining:
            return False
        # Once more: what was fetched between the two statements.
        again = await runs.standing(database, run.id, DAY)
        fresh = await database.fetch(runs.FRESH, run.id)
        if again.remaining or fresh:
            return False
        await database.fetch(DONE_OF_RUN, job.id, run.id, CHUNK)
        return True

    async def _look_at_batch(self, job: ScrapeJob) -> bool:
        rows = await self._database.fetch(WAITING, job.id)
        found = await requests.states(
            self._database,
            [(row["page_id"], row["created_at"]) for row in rows if row["page_id"] is not None],
        )
        done: list[tuple[int, AskedState]] = []
        for row in rows:
            state = found.get(row["page_id"])
            if state is None or not state.is_decided:
                continue
            target = state.target
            if target is not None and row["hops"] < MOST_HOPS:
                await self._follow(row["id"], target, job, state)
            else:
                done.append((row["id"], state))
        if done:
            await self._note(job, done)
        return len(done) == len(rows)

    async def _note(self, job: ScrapeJob, done: list[tuple[int, AskedState]]) -> None:
        refusals = [None if state.is_good else state.refusal() for _, state in done]

        async def act(connection: Connection) -> None:
            await connection.execute(
                NOTE_DONE,
                job.id,
                [row_id for row_id, _ in done],
                [state.snapshot_id if state.is_good else None for _, state in done],
                [refusal.code if refusal else None for refusal in refusals],
                [str(refusal) if refusal else None for refusal in refusals],
            )
            await requests.settle(connection, sorted({state.page_id for _, state in done}))

        await transact(self._database, act)

    async def _follow(self, row_id: int, target: Url, job: ScrapeJob, state: AskedState) -> None:
        """Wait for the page that a redirect leads to, within the same domain."""

        async def act(connection: Connection) -> None:
            name = domains.Submission.understand(target.href).domain
            domain = await domains.lock(connection, name)
            page_id = await requests.add(connection, domain, target)
            await requests.make_due(connection, [target], [page_id])
            await connection.execute(FOLLOW, row_id, page_id)

        try:
            await transact(self._database, act)
        except (MessorError, ScrapeRefusedError):
            await self._note(job, [(row_id, state)])
