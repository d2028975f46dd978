"""The path of a page. `Visitor.visit` reads top to bottom as the data flows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from messor.courtesy.lanes import Lane
from messor.courtesy.pace import Permit
from messor.courtesy.robots import FRESH_SECONDS, RETRY_SECONDS, RobotsFile
from messor.engine.harvest import Harvest
from messor.engine.inbox import Inbox
from messor.engine.keep import Keeper
from messor.engine.rules import Candidate, decide_task
from messor.errors import LeaseLostError, UnavailableError
from messor.fetch.http import HttpFetcher
from messor.fetch.outcome import RETRYABLE, Fetched, Outcome
from messor.frontier import cadence
from messor.frontier.cadence import Schedule
from messor.frontier.tasks import Task
from messor.kit import clock
from messor.ledger.decisions import Decision, Verdict
from messor.web.robots import MAX_BYTES
from messor.web.suffixes import registrable_domain
from messor.web.urls import parse

ROBOTS_REDIRECTS = 5  # RFC 9309 2.3.1.2
SILENT_SECONDS = 60.0  # after 429 or 503 without a Retry-After

# Reading is CPU work on the loop. A few pages per turn, so that flushes, timers and the sockets
# of other hosts never wait behind a hundred pages that arrived together.
READ_PER_TURN = 8


class Visit:
    """A visit under way: its lane, the tasks it still has, and how it ended."""

    def __init__(self, lane: Lane, tasks: list[Task], seconds: float) -> None:
        self.lane = lane
        self.pages = 0
        self.reason = "done"
        # One request at a time, unless the lane's delay is 0: then one per slot. Nobody runs
        # ahead of a robots.txt that is about to be read.
        reads_robots = any(task.kind == "robots" for task in tasks)
        self.runners = lane.slots if lane.pace.delay == 0 and not reads_robots else 1
        self._tasks = iter(tasks)
        self._deadline = clock.now() + seconds
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

    @property
    def remaining(self) -> float:
        return self._deadline - clock.now()

    def end(self, reason: str) -> None:
        if not self._ended:
            self._ended = True
            self.reason = reason


class Visitor:
    """Carries out visits for one worker."""

    def __init__(self, fetcher: HttpFetcher, keeper: Keeper, inbox: Inbox, *, agent: str) -> None:
        self._fetcher = fetcher
        self._keeper = keeper
        self._inbox = inbox
        self._agent = agent
        self._reading = asyncio.Semaphore(READ_PER_TURN)
        self._stopping = False

    def stop(self) -> None:
        """Visits end after the page they are at."""
        self._stopping = True

    async def hold(self, visit: Visit) -> None:
        """Visit a lane from beginning to end, and give it back whatever happens."""
        lane = visit.lane
        try:
            async with asyncio.TaskGroup() as runners:
                for _ in range(visit.runners):
                    runners.create_task(self.visit(visit))
        except* LeaseLostError:
            visit.end("lease_lost")
        except* UnavailableError:
            visit.end("archive_unavailable")
        finally:
            self._inbox.give_back(lane, visit.pages, visit.reason)

    async def visit(self, visit: Visit) -> None:
        """The path: every due page of the lane goes its whole way."""
        lane = visit.lane
        for task in visit.due():
            if self._stopping:
                visit.end("stopped")
                break
            decision = self._decide(lane, task)
            if decision.verdict is Verdict.DEFERRED:
                visit.end(decision.rule)
                break
            if decision.verdict is Verdict.DENIED:
                self._inbox.put(refuse(lane, task, decision))
                continue

            await self._inbox.room.wait()
            if lane.pace.ready_in > visit.remaining:
                visit.end("pace")
                break
            permit = await lane.pace.permit()
            fetched = await self._fetch(task, permit)
            visit.pages += 1

            if task.kind == "robots":
                await self._adopt_robots(lane, task, decision, fetched)
            else:
                again = schedule(lane, task, fetched)
                harvest = Harvest(lane, task, decision, again, fetched.outcome, fetched)
                async with self._reading:
                    self._keep(harvest, fetched)
                    await asyncio.sleep(0)  # the next few read in the loop's next turn

            if fetched.outcome is Outcome.BLOCKED and fetched.status in (429, 503):
                visit.end("cool_down")
                await self._fall_silent(lane, fetched)

    def _keep(self, harvest: Harvest, fetched: Fetched) -> None:
        try:
            self._keeper.keep(harvest, fetched)
        except UnavailableError:
            raise  # the archive cannot be written: the page stays due
        except Exception as error:  # noqa: BLE001 - whatever a page does to a parser, it is its own fault
            self._inbox.blame(harvest, "parse", error)
        self._inbox.put(harvest)

    def _decide(self, lane: Lane, task: Task) -> Decision:
        closed = lane.host_id in self._inbox.closed
        return decide_task(Candidate(lane, task, self._agent, closed))

    async def _fetch(self, task: Task, permit: Permit) -> Fetched:
        if task.kind == "robots":  # of a long one the beginning counts (RFC 9309 2.5)
            return await self._fetcher.fetch(task.url, permit, cut_at=MAX_BYTES)
        return await self._fetcher.fetch(
            task.url, permit, etag=task.etag, last_modified=task.last_modified
        )

    async def _adopt_robots(
        self, lane: Lane, task: Task, decision: Decision, fetched: Fetched
    ) -> None:
        """Put a robots.txt in force; it is committed before the lane's next request."""
        fetched = await self._follow_robots(lane, task, fetched)
        file = RobotsFile.from_answer(fetched.status, fetched.body, self._agent)
        if fetched.outcome is Outcome.REDIRECTED:
            file = self._robots_elsewhere(lane, task, fetched)
        good = file.verdict != "deny_all"
        again = Schedule("completed", FRESH_SECONDS if good else RETRY_SECONDS, 0)
        outcome = Outcome.OK if file.verdict == "rules" else fetched.outcome
        self._inbox.put(Harvest(lane, task, decision, again, outcome, fetched))
        lane.robots = await self._inbox.adopt_robots(lane, file)
        lane.robots_id = lane.robots.id
        lane.pace.slow_down_to(file.crawl_delay or 0.0)
        if not good:
            await self._inbox.silence(lane, RETRY_SECONDS, file.reason)

    async def _follow_robots(self, lane: Lane, task: Task, fetched: Fetched) -> Fetched:
        """Follow a robots.txt within its host, as from http to https; each hop is paced."""
        for _ in range(ROBOTS_REDIRECTS):
            target = parse(fetched.location or "", task.url)
            if fetched.outcome is not Outcome.REDIRECTED or target is None:
                break
            if target.authority != lane.host:
                break
            permit = await lane.pace.permit()
            fetched = await self._fetcher.fetch(target.href, permit, cut_at=MAX_BYTES)
        return fetched

    @staticmethod
    def _robots_elsewhere(lane: Lane, task: Task, fetched: Fetched) -> RobotsFile:
        """A robots.txt that points to another host, which this lane may not talk to.

        Within the domain that host's own lane reads it, and pages usually follow their robots
        there. Beyond the domain nobody may look, so nothing may be fetched either.
        """
        target = parse(fetched.location or "", task.url)
        where = target.authority if target else "nowhere"
        inside = target is not None and registrable_domain(target.host) == lane.policy.domain
        reason = f"robots.txt redirects to {where}"
        return RobotsFile(
            "allow_all" if inside else "deny_all", reason, fetched.status, b"", None, None
        )

    async def _fall_silent(self, lane: Lane, fetched: Fetched) -> None:
        """Leave the host alone as long as it asks; committed before its next request."""
        asked = fetched.retry_after
        seconds = SILENT_SECONDS if asked is None else asked
        await self._inbox.silence(lane, seconds, f"answered {fetched.status}")


def refuse(lane: Lane, task: Task, decision: Decision) -> Harvest:
    """A page that may not be fetched; the question is asked anew when it is due again."""
    again = cadence.after_success(task, lane.policy.frequency)
    return Harvest(lane, task, decision, again, decision.rule)


def schedule(lane: Lane, task: Task, fetched: Fetched) -> Schedule:
    """When the page is due again."""
    if fetched.outcome in RETRYABLE:
        return cadence.after_failure(task, lane.policy.frequency, fetched.retry_after or 0.0)
    if fetched.outcome is Outcome.NOT_FOUND:
        return cadence.after_gone()
    return cadence.after_success(task, lane.policy.frequency)
