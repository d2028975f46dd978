"""A rehearsal of one vertical, from keywords to cadence, on a simulated web with production code.

Orchestrators are run manually, in the order of a day; reviewers' decisions are taken from the
ground truth of the simulated web. A simulated week later the cycle runs again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from messor.archive.storage import Archive
from messor.cli.run_workers import crawl_until_idle
from messor.cli.session import LOCAL_ADMIN
from messor.errors import MessorError
from messor.extraction import queue
from messor.extraction.extract import Extractor
from messor.extraction.reader_pool import ReaderPool
from messor.governance import decisions
from messor.jobs.handlers import Handlers
from messor.jobs.runner import Runner as JobRunner
from messor.jobs.runner import RunnerLimits
from messor.registry import domains
from messor.schedule.leader import ByHand
from messor.schedule.runs import ScheduleRunner, begin_by_hand
from messor.schedule.standard import standard_registry
from messor.scout import candidates, keywords, tiers, track
from messor.scout.candidate_queries import CANDIDATES, CandidateFilter
from messor.scout.engines.registry import hire
from messor.scout.search import Searcher
from messor.settings import Settings
from messor.store.database import Database
from messor.store.dsn import with_setting
from messor.store.session import Session
from messor.verticals import files, verticals
from messor.verticals.verticals import Applied
from simweb.truth import Truth

LATER = timedelta(days=8)  # into another calendar week, whichever day it is
MAX_KEYWORDS = 240
PAGES_EACH = 25  # per domain: enough to classify it and to read its candidates
CONNECTIONS = 10
PATIENCE_SECONDS = 2.0
EXTRACT_ATTEMPTS, EXTRACT_PAUSE_SECONDS = 20, 5.0  # together longer than all retry delays of a page
REASON = "Not relevant to this vertical."

# Jobs that wait for a retry are not waited for; the checks then miss their pages.
WAITING_JOBS = """
SELECT count(*) FROM messor.jobs
 WHERE state = 'running' OR (state = 'queued' AND available_at <= messor.clock())
"""
# Keep every nth keyword in the order of their texts, so that all services and places take part.
DEACTIVATE = """
UPDATE messor.keywords k SET active = false, pruned_reason = 'Not needed for the rehearsal.'
  FROM (SELECT id, row_number() OVER (ORDER BY keyword_text COLLATE "C") AS place FROM messor.keywords) n
 WHERE n.id = k.id AND n.place % $1::bigint <> 0 RETURNING k.id
"""
TO_REVIEW = """
SELECT DISTINCT d.domain FROM messor.domains d JOIN messor.candidates c ON c.domain_id = d.id
 WHERE d.status = 'pending_review' AND c.status = 'PENDING_CRAWL' ORDER BY d.domain
"""

Report = Callable[[str], None]


class Rehearsal:
    """Runs the discovery cycle of one vertical; `figures` holds the counts of each step."""

    def __init__(
        self,
        settings: Settings,
        session: Session,
        readers: ReaderPool,
        truth: Truth,
        report: Report,
    ) -> None:
        self._settings = settings
        self._session = session
        self._readers = readers
        self._truth = truth
        self._report = report
        self._registry = standard_registry(settings)
        self.figures: dict[str, int] = {}

    @property
    def database(self) -> Database:
        return self._session.database

    async def prepare(self) -> Applied:
        """Apply the vertical and generate keywords of its first profile, at most MAX_KEYWORDS."""
        async with self.database.transaction() as connection:
            file = files.shipped(self._truth.market)
            applied, _ = await verticals.apply(connection, file, actor=LOCAL_ADMIN)
        profile = next(iter(applied.vertical.profiles))
        made = await keywords.write(self.database, applied, [profile], actor=LOCAL_ADMIN)
        deactivated = await self.database.fetch(DEACTIVATE, -(-made // MAX_KEYWORDS))
        self._count(keywords=made - len(deactivated))
        return applied

    async def run_cycle(self, applied: Applied) -> None:
        """Go from due keywords to reviewed candidates."""
        self._report("searching for keywords")
        await self._search()
        self._count(**await self._run("O-Judge"))
        await self._run("O-Classify")
        await self._review_domains()
        await self._run("O-Candidates")
        await self._run("O-Daily")
        self._report("crawling approved domains")
        outcomes = await crawl_until_idle(self._settings, self._session, patience=PATIENCE_SECONDS)
        self.figures["pages"] = sum(outcomes.values())
        self._report("extracting records")
        await self._extract()
        await self._run("O-Candidates")  # follows redirects
        self._count(**await self._run("O-Candidates"))
        await self._review_candidates(applied)
        await self._run("O-Classify")

    async def score(self, applied: Applied) -> None:
        """Assign tiers to keywords and track levels to domains."""
        async with self.database.transaction() as connection:
            await tiers.apply(connection, applied, actor=LOCAL_ADMIN)
        self._count(**await self._run("O-Score"))

    async def _search(self) -> None:
        """Queue search jobs and run them as a worker does."""
        self._count(**await self._run("O-SERP"))
        searcher = Searcher(self.database, hire(self._settings.search_engines))
        handlers = Handlers()
        track.register(handlers, self.database, searcher)
        runner = JobRunner(self.database, handlers, "rehearsal", RunnerLimits(poll_seconds=0.05))
        running = asyncio.create_task(runner.run())
        try:
            while await self.database.fetchval(WAITING_JOBS):
                await asyncio.wait([running], timeout=0.1)
        finally:
            runner.stop()
            await running
            await searcher.close()
        self._count(searches=runner.outcomes["done"])

    async def _review_domains(self) -> None:
        """Decide on every domain with a candidate, by the ground truth."""
        for row in await self.database.fetch(TO_REVIEW):
            name: str = row["domain"]
            async with self.database.transaction() as connection:
                if name in self._truth.relevant:
                    domain = await domains.lock(connection, name)
                    await domains.configure(
                        connection, domain, actor=LOCAL_ADMIN, page_budget=PAGES_EACH
                    )
                    await decisions.approve(connection, name, actor=LOCAL_ADMIN)
                    self._count(domains_approved=1)
                else:
                    await decisions.reject(connection, name, actor=LOCAL_ADMIN, reason=REASON)
                    self._count(domains_rejected=1)

    async def _review_candidates(self, applied: Applied) -> None:
        filters = CandidateFilter(vertical=applied.vertical.name, status="PENDING_REVIEW")
        waiting = [one async for one in CANDIDATES.all(self.database, filters)]
        for one in waiting:
            async with self.database.transaction() as connection:
                assigned = await candidates.assign(connection, one, LOCAL_ADMIN, actor=LOCAL_ADMIN)
                await candidates.approve(connection, assigned, actor=LOCAL_ADMIN)
        self._count(candidates_approved=len(waiting))

    async def _extract(self) -> None:
        """Extract crawled pages; on a busy machine a page may need another attempt."""
        archive = Archive.of(self._settings)
        for _ in range(EXTRACT_ATTEMPTS):
            tally = await Extractor(self.database, archive, self._readers).run()
            self._count(records=tally.new)
            if not (await queue.waiting(self.database)).waiting:
                return
            await asyncio.sleep(EXTRACT_PAUSE_SECONDS)

    async def _run(self, name: str) -> dict[str, int]:
        """Run one orchestrator manually and return its counts."""
        started = await begin_by_hand(self.database, self._registry.get(name), LOCAL_ADMIN)
        outcome = await ScheduleRunner(self.database, ByHand()).carry_out(started)
        if outcome != "ok":
            raise MessorError(f"{name} {outcome}; see messor schedule show for the reason.")
        return dict(started.counts)

    def _count(self, **counts: int) -> None:
        for name, count in counts.items():
            self.figures[name] = self.figures.get(name, 0) + count


@asynccontextmanager
async def later(session: Session, by: timedelta) -> AsyncIterator[Session]:
    """Open the same database with a clock that is ahead."""
    offset = f"{int(by.total_seconds())} seconds"
    dsn = with_setting(session.database.dsn, "messor.clock_offset", offset)
    async with Database(dsn, pool_size=CONNECTIONS) as database:
        yield Session(database, None)
