"""The path of a page. `visit` reads top to bottom as the data flows; the steps follow it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from messor.archive import hashing, warc
from messor.archive.segments import SegmentWriter
from messor.archive.snapshots import Snapshot
from messor.courtesy.lanes import Lane
from messor.courtesy.robots import FRESH_SECONDS, RETRY_SECONDS, RobotsFile
from messor.engine.harvest import Harvest
from messor.engine.inbox import Inbox
from messor.engine.links import LinkSieve
from messor.engine.rules import Candidate, decide_task
from messor.errors import LeaseLostError, UnavailableError
from messor.fetch.http import HttpFetcher
from messor.fetch.outcome import RETRYABLE, Fetched, Outcome
from messor.frontier import cadence
from messor.frontier.cadence import Schedule
from messor.frontier.tasks import Task
from messor.kit import clock
from messor.ledger.decisions import Decision, Verdict
from messor.web.encodings import decode
from messor.web.html import PageReading, TooComplexError, read_page
from messor.web.urls import LinkCache, LinkResolver

SILENT_SECONDS = 60.0  # after 429 or 503 without a Retry-After


class Visitor:
    """Carries out visits for one worker."""

    def __init__(
        self,
        fetcher: HttpFetcher,
        archive: SegmentWriter,
        inbox: Inbox,
        sieve: LinkSieve,
        *,
        agent: str,
        visit_seconds: float,
    ) -> None:
        self._fetcher = fetcher
        self._archive = archive
        self._inbox = inbox
        self._sieve = sieve
        self._agent = agent
        self._visit_seconds = visit_seconds
        self._links = LinkCache(20_000)
        self._stopping = False
        # Reading is CPU work on the loop. A few pages per turn, so that flushes, timers and
        # sockets of other hosts never wait behind a hundred pages that arrived together.
        self._reading = asyncio.Semaphore(4)

    def stop(self) -> None:
        """Visits end after the page they are at."""
        self._stopping = True

    async def visit(self, lane: Lane, tasks: list[Task]) -> None:
        """One visit: every due page of a lane goes its whole way."""
        visit = _Visit(lane, tasks, clock.now() + self._visit_seconds)
        try:
            # One request at a time, unless the domain's delay is 0: then one per slot.
            async with asyncio.TaskGroup() as runners:
                for _ in range(lane.slots if lane.pace.delay == 0 else 1):
                    runners.create_task(self._run(visit))
        except* (LeaseLostError, UnavailableError):
            visit.end("lease_lost")
        finally:
            self._inbox.give_back(lane, visit.pages, visit.reason)

    async def _run(self, visit: _Visit) -> None:
        lane = visit.lane
        for task in visit.due():
            if self._stopping:
                visit.end("stopped")
                break
            closed = lane.host_id in self._inbox.closed
            decision = decide_task(Candidate(lane, task, self._agent, closed))
            if decision.verdict is Verdict.DEFERRED:
                visit.end(decision.rule)
                break
            if decision.verdict is Verdict.DENIED:
                self._inbox.put(refuse(lane, task, decision))
                continue
            await self._inbox.room.wait()
            permit = await lane.pace.permit()
            fetched = await self._fetcher.fetch(
                task.url, permit, etag=task.etag, last_modified=task.last_modified
            )
            visit.pages += 1
            if task.kind == "robots":
                await self._adopt_robots(lane, task, decision, fetched)
            else:
                async with self._reading:
                    self._inbox.put(self._keep_and_read(lane, task, decision, fetched))
            if fetched.outcome is Outcome.BLOCKED and fetched.status in (429, 503):
                visit.end("cool_down")
                seconds = SILENT_SECONDS if fetched.retry_after is None else fetched.retry_after
                await self._inbox.silence(lane, seconds, f"answered {fetched.status}")

    async def _adopt_robots(
        self, lane: Lane, task: Task, decision: Decision, fetched: Fetched
    ) -> None:
        """Put a robots.txt in force; it is committed before the lane's next request."""
        file = RobotsFile.from_answer(fetched.status, fetched.body, self._agent)
        good = file.verdict != "deny_all"
        schedule = Schedule("completed", FRESH_SECONDS if good else RETRY_SECONDS, 0)
        outcome = Outcome.OK if file.verdict == "rules" else fetched.outcome
        self._inbox.put(Harvest(lane, task, decision, schedule, outcome, fetched))
        lane.robots = await self._inbox.adopt_robots(lane, file)
        lane.robots_id = lane.robots.id
        lane.pace.delay = max(lane.pace.delay, file.crawl_delay or 0.0)
        if not good:
            await self._inbox.silence(lane, RETRY_SECONDS, file.reason)

    def _keep_and_read(
        self, lane: Lane, task: Task, decision: Decision, fetched: Fetched
    ) -> Harvest:
        """Hash, archive and read what came; decide when to come again."""
        harvest = Harvest(
            lane, task, decision, schedule(lane, task, fetched), fetched.outcome, fetched
        )
        if fetched.outcome is Outcome.REDIRECTED:
            harvest.found, fetched.error = self._sieve.follow(lane, task, fetched.location)
        elif fetched.outcome is Outcome.NOT_FOUND:
            harvest.removed = task.snapshot_id is not None and task.outcome != Outcome.NOT_FOUND
        elif fetched.outcome is Outcome.OK:
            harvest.raw_hash = hashing.raw_hash(fetched.body)
            if harvest.raw_hash == task.raw_hash and task.snapshot_id is not None:
                harvest.outcome = fetched.outcome = Outcome.UNCHANGED
            else:
                self._read(harvest, fetched)
        return harvest

    def _read(self, harvest: Harvest, fetched: Fetched) -> None:
        lane, task = harvest.lane, harvest.task
        text, _ = decode(fetched.body, fetched.content_type)
        try:
            reading = read_page(
                text,
                task.url,
                resolver=LinkResolver(task.url, self._links),
                agent=self._agent,
            )
        except TooComplexError as error:
            harvest.outcome, fetched.error = Outcome.TOO_COMPLEX, str(error)
            return
        harvest.snapshot = self._keep(harvest, fetched, text, reading)
        if not reading.nofollow:
            harvest.found, refused = self._sieve.sift(lane, task, reading.links)
            self._inbox.refuse_links(refused)

    def _keep(
        self, harvest: Harvest, fetched: Fetched, text: str, reading: PageReading
    ) -> Snapshot:
        lane, task = harvest.lane, harvest.task
        assert fetched.status is not None
        assert harvest.raw_hash is not None
        data = hashing.encode_data(reading.structured)
        record = warc.response(
            task.url,
            fetched.status,
            fetched.reason,
            fetched.raw_headers,
            fetched.wire,
            fetched.body,
        )
        return Snapshot(
            page_id=task.page_id,
            host_id=lane.host_id,
            token=lane.token,
            content_hash=hashing.content_hash(reading.markdown, None, text),
            data_hash=hashing.data_hash(data),
            raw_hash=harvest.raw_hash,
            place=self._archive.append(record),
            size=len(fetched.body),
            status_code=fetched.status,
            content_type=fetched.content_type,
            title=reading.title or None,
            description=reading.description or None,
            language=reading.language or None,
            word_count=reading.word_count,
            markdown=reading.markdown,
            data=data.decode() if data else None,
            state="new" if task.snapshot_id is None else "changed",
        )


class _Visit:
    """A visit under way: its tasks, its end and what it did."""

    def __init__(self, lane: Lane, tasks: list[Task], deadline: float) -> None:
        self.lane = lane
        self.pages = 0
        self.reason = "done"
        self._tasks = iter(tasks)
        self._deadline = deadline
        self._ended = False

    def due(self) -> Iterator[Task]:
        """The next task, for whichever runner asks, until the visit ends."""
        while not self._ended:
            if clock.now() >= self._deadline:
                self.end("time")
                return
            task = next(self._tasks, None)
            if task is None:
                return
            yield task

    def end(self, reason: str) -> None:
        if not self._ended:
            self._ended = True
            self.reason = reason


def refuse(lane: Lane, task: Task, decision: Decision) -> Harvest:
    """A page that may not be fetched; the question is asked anew when it is due again."""
    again = cadence.after_success(task, lane.policy.frequency)
    return Harvest(lane, task, decision, again, decision.rule)


def schedule(lane: Lane, task: Task, fetched: Fetched) -> Schedule:
    if fetched.outcome in RETRYABLE:
        return cadence.after_failure(task, lane.policy.frequency, fetched.retry_after or 0.0)
    if fetched.outcome is Outcome.NOT_FOUND:
        return cadence.after_gone()
    return cadence.after_success(task, lane.policy.frequency)
