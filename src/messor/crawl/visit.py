"""The path of a page. `Visitor.visit` reads top to bottom as the data flows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from logging import DEBUG, INFO

from messor.core import clock
from messor.core.logs import log, room_logger
from messor.crawl.flush_queue import FlushQueue
from messor.crawl.http_fallback import HttpStandIn
from messor.crawl.images import MAX_BYTES as IMAGE_BYTES
from messor.crawl.images import ImageReader
from messor.crawl.in_progress import TaskInProgress
from messor.crawl.keep import Keeper
from messor.crawl.page_result import PageResult
from messor.crawl.preflight import KIND, PreflightReader
from messor.crawl.read import PageReadResult, Reader
from messor.crawl.robots import RobotsReader, robots_page
from messor.crawl.rules import DueTask, decide_task
from messor.crawl.sitemaps import SitemapTaskReader
from messor.errors import LeaseLostError, UnavailableError
from messor.fetch.outcome import RETRYABLE, Fetched, Outcome
from messor.fetch.provider import PROVIDER_FAULT, Provider
from messor.fetch.proxies.proxy import PROXY_FAULT
from messor.fetch.router import Router
from messor.fetch.terms import TermsFetcher
from messor.frontier import cadence
from messor.frontier.cadence import Schedule
from messor.frontier.tasks import Task
from messor.ledger.decisions import Decision, Verdict
from messor.ledger.events import Event
from messor.politeness.friction import Friction
from messor.politeness.lanes import Lane
from messor.politeness.pace import ABOUT, Permit
from messor.politeness.risk import delay_of
from messor.politeness.robots import RETRY_SECONDS, SCHEMES
from messor.web.robots import MAX_BYTES
from messor.web.sitemaps import MAX_BYTES as SITEMAP_BYTES
from messor.web.urls import parse

SILENT_SECONDS = 60.0  # after 429 or 503 without a Retry-After; twice as long each time
LONGEST_SILENCE = 3600.0
FRICTION_SECONDS = 3600.0  # after a visit that was stopped early
UNHEARD = 5  # requests in a row without an answer before a host is taken to be down
EXHAUSTED_SECONDS = 3600.0  # before a page is tried again that every provider failed at
DEFERRED_SECONDS = 5.0  # before a lane is looked at again whose turn has not come

# Of these, when long, the beginning counts (RFC 9309 2.5, sitemaps.org); of a picture no more is
# read than tells that it is too large.
CUT_AT = {"robots": MAX_BYTES, "sitemap": SITEMAP_BYTES, "image": IMAGE_BYTES + 1}

GOOD = frozenset({Outcome.OK, Outcome.UNCHANGED})

# Reading is CPU work on the loop. A few pages per turn, so that flushes, timers and the sockets
# of other hosts never wait behind a hundred pages that arrived together.
READ_PER_TURN = 8


logger = room_logger(__name__)


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

    @property
    def ended(self) -> bool:
        return self._ended

    def end(self, reason: str) -> None:
        if not self._ended:
            self._ended = True
            self.reason = reason


class Visitor:
    """Carries out visits for one worker."""

    def __init__(
        self,
        fetcher: TermsFetcher,
        router: Router,
        reader: Reader,
        keeper: Keeper,
        inbox: FlushQueue,
        *,
        robots: RobotsReader,
        sitemaps: SitemapTaskReader,
        images: ImageReader,
        preflights: PreflightReader,
        over_http: HttpStandIn,
        agent: str,
    ) -> None:
        self._fetcher = fetcher
        self._router = router
        self._reader = reader
        self._keeper = keeper
        self._inbox = inbox
        self._robots = robots
        self._sitemaps = sitemaps
        self._images = images
        self._preflights = preflights
        self._over_http = over_http
        self._agent = agent
        self._reading = asyncio.Semaphore(READ_PER_TURN)
        self._stopping = False
        self.lacks_space = False  # what would be fetched could not be stored

    def stop(self) -> None:
        """Visits end after the page they are at."""
        self._stopping = True

    @property
    def _must_end(self) -> str | None:
        """Why visits end after the page they are at, if they do."""
        if self._stopping:
            return "stopped"
        return "disk_full" if self.lacks_space else None

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
            self._inbox.cut_off(lane)
            self._inbox.give_back(lane, visit.pages, visit.reason)
            log(logger, INFO, "visit ended", host=lane.host, pages=visit.pages, reason=visit.reason)

    async def visit(self, visit: Visit) -> None:
        """The path: every due page of the lane goes its whole way."""
        lane = visit.lane
        for task in visit.due():
            if self._must_end is not None:
                visit.end(self._must_end)
                break
            decision = await self._settle(visit, task)
            if decision is None:
                continue

            ABOUT.set(TaskInProgress(task, decision))
            if task.kind == KIND:
                await self._look(visit, task)
                continue
            permit = await self._pace(visit)
            if permit is None:
                break
            fetched = await self._fetch(lane, task, permit)
            visit.pages += 1
            if task.kind == "robots":
                fetched = await self._read_robots(visit, task, decision, fetched)
            elif task.kind in ("sitemap", "image"):
                await self._take_in(visit, task, decision, fetched)
            else:
                hops, answer = await self._read(visit, task, fetched)
                fetched = answer.fetched
                again = schedule(lane, task, fetched, hops)
                harvest = PageResult(
                    lane, task, decision, again, fetched.outcome, fetched, hops=hops
                )
                self._keep(harvest, answer)
                log(
                    logger, DEBUG, "page kept", url=task.url, outcome=harvest.outcome,
                    provider=fetched.provider, gates=answer.verdict.gates or None,
                    next_in_seconds=again.due_in,
                )  # fmt: skip
            await self._heed(visit, fetched)

    async def _settle(self, visit: Visit, task: Task) -> Decision | None:
        """The decision by which a task is carried out; None when it is done with, or put off."""
        lane = visit.lane
        if lane.https_error is not None and self._over_http.send_on(lane, task):
            return None
        decision = self._decide(lane, task)
        if decision.verdict is Verdict.DEFERRED:
            await self._put_off(visit, task, decision)
            return None
        if decision.verdict is Verdict.DENIED:
            log(
                logger, DEBUG, "page refused", url=task.url, rule=decision.rule, why=decision.reason
            )
            self._inbox.put(refuse(lane, task, decision))
            return None
        return decision

    async def _read_robots(
        self, visit: Visit, task: Task, decision: Decision, fetched: Fetched
    ) -> Fetched:
        """A robots.txt; the visit ends where the one that counts is still to be read."""
        lane = visit.lane
        fetched = await self._robots.read(lane, task, decision, fetched)
        if not lane.robots or (lane.https_error is not None and "http" not in lane.robots):
            visit.end("robots")
        return fetched

    async def _put_off(self, visit: Visit, task: Task, decision: Decision) -> None:
        """A task whose turn has not come: its lane is left for a while, or it alone is."""
        lane = visit.lane
        if decision.rule == "robots":
            url = parse(task.url)
            assert url is not None, "tasks hold web addresses"
            if url.scheme not in lane.robots:
                # The first URL of its scheme on this host: its robots.txt is read before it.
                await self._inbox.find([robots_page(lane, url, found_on=task.page_id)])
            elif any(lane.has_way_in(scheme) for scheme in SCHEMES):
                later = Schedule("pending", RETRY_SECONDS, task.retry_count)
                self._inbox.put(PageResult(lane, task, decision, later, decision.rule))
                return
        visit.end(decision.rule)
        lane.pace.be_silent(DEFERRED_SECONDS)

    async def _take_in(
        self, visit: Visit, task: Task, decision: Decision, fetched: Fetched
    ) -> None:
        """An answer that is no page: a sitemap, or a picture."""
        if task.kind == "image":
            self._images.read(visit.lane, task, decision, fetched)
        else:
            await self._sitemaps.read(visit.lane, task, decision, fetched)
        await self._meet(visit, task, fetched, refusal_of(fetched))

    async def _look(self, visit: Visit, task: Task) -> None:
        """A first look at a domain that waits for review."""
        looked = await self._preflights.look(visit.lane, task)
        visit.pages += looked.requests
        fetched = looked.harvest.fetched
        assert fetched is not None
        await self._meet(visit, task, fetched, looked.signals)
        self._inbox.put(looked.harvest)
        await self._heed(visit, fetched)

    async def _pace(self, visit: Visit) -> Permit | None:
        """Wait for the lane's turn; None when it does not come within the visit."""
        await self._inbox.room.wait()
        if visit.lane.pace.ready_in > visit.remaining:
            visit.end("pace")
            return None
        permit = await visit.lane.pace.permit()
        if visit.lane.host_id in self._inbox.closed:
            visit.end("registry")  # suspended while we waited
        elif self.lacks_space:
            visit.end("disk_full")
        return None if visit.ended else permit

    async def _read(
        self, visit: Visit, task: Task, fetched: Fetched
    ) -> tuple[list[Fetched], PageReadResult]:
        """Read an answer; while it is not good enough and somebody else may do better, ask them."""
        lane = visit.lane
        answer = await self._judge(visit, task, fetched)
        hops: list[Fetched] = []
        best = answer
        while provider := self._next(lane, answer, hops):
            if (seconds := silence_after(lane, answer.fetched)) > visit.remaining:
                break
            await self._fall_silent(lane, answer.fetched, seconds)
            permit = await self._pace(visit)
            if permit is None:
                break
            fetched = await provider.fetch(task.url, permit)
            visit.pages += 1
            later = await self._judge(visit, task, fetched)
            later.raw_hash = answer.raw_hash
            if is_better(later, best):
                hops.append(best.fetched)
                best = later
            else:
                hops.append(later.fetched)
            answer = later
        if best.same_shell:
            best.fetched.outcome = Outcome.UNCHANGED
        return hops, best

    def _next(self, lane: Lane, answer: PageReadResult, hops: list[Fetched]) -> Provider | None:
        """Who is asked after an answer; services that are left alone now are noted as passed over."""
        choice = self._router.after(
            lane.policy,
            answer.fetched,
            answer.verdict,
            text_length=answer.reading.text_length if answer.reading else 0,
            same_shell=answer.same_shell,
        )
        hops += choice.passed_over
        return choice.provider

    async def _judge(self, visit: Visit, task: Task, fetched: Fetched) -> PageReadResult:
        if fetched.body:
            async with self._reading:
                answer = self._reader.read(visit.lane, task, fetched)
                await asyncio.sleep(0)  # the next few read in the loop's next turn
        else:
            answer = self._reader.read(visit.lane, task, fetched)
        if answer.needs_cage:
            await self._reader.read_caged(task, answer)
        await self._meet(visit, task, fetched, answer.verdict.signals)
        return answer

    async def _meet(
        self, visit: Visit, task: Task, fetched: Fetched, signals: Sequence[str]
    ) -> None:
        """Friction raises the host's risk and slows the lane; committed before its next request."""
        lane = visit.lane
        if fetched.error_type not in (PROXY_FAULT, PROVIDER_FAULT):
            lane.standing.took(fetched.duration)
        if fetched.outcome in GOOD:
            lane.standing.refusals = 0
        if not signals:
            return
        now = clock.now()
        met = [
            Friction(lane, task.page_id, signal, points, score, now)
            for signal, points, score in lane.standing.meet(signals)
        ]
        if not met:
            return
        slower = delay_of(lane.standing.score)
        if slower > lane.pace.delay and visit.runners > 1:
            visit.end("friction")  # runners side by side cannot keep a distance
        lane.pace.slow_down_to(slower)
        risk = round(lane.standing.score, 1)
        data = {"host": lane.host, "signals": [f.signal for f in met], "risk": risk}
        event = Event("friction.detected", "worker", lane.policy.domain_id, task.page_id, data)
        log(logger, INFO, "friction", url=task.url, **data)
        await self._inbox.meet(met, event)

    def _keep(self, harvest: PageResult, answer: PageReadResult) -> None:
        harvest.raw_hash = answer.raw_hash
        fault = answer.fault
        if fault is None:
            try:
                self._keeper.keep(harvest, answer)
            except UnavailableError:
                raise  # the archive cannot be written: the page stays due
            except Exception as error:  # noqa: BLE001 - what a page does to its reader is its own fault
                fault = error
        if fault is not None:
            self._inbox.blame(harvest, "parse", fault)
        if harvest.outcome not in GOOD:
            harvest.raw_hash = None  # the same block again is not "unchanged"
        self._inbox.put(harvest)

    def _decide(self, lane: Lane, task: Task) -> Decision:
        closed = lane.host_id in self._inbox.closed
        return decide_task(DueTask(lane, task, self._agent, closed))

    async def _fetch(self, lane: Lane, task: Task, permit: Permit) -> Fetched:
        fetched = await self._fetcher.fetch(
            lane.policy,
            task.url,
            permit,
            etag=task.etag,
            last_modified=task.last_modified,
            cut_at=CUT_AT.get(task.kind),
            wire_tag=task.wire_tag if task.kind == "page" and task.snapshot_id else None,
        )
        log(
            logger, DEBUG, "fetched", url=task.url, kind=task.kind, status=fetched.status,
            outcome=fetched.outcome, error=fetched.error_type, ms=round(fetched.duration * 1000),
        )  # fmt: skip
        lane.standing.heard(
            answered=fetched.status is not None or fetched.error_type == PROXY_FAULT
        )
        return fetched

    async def _heed(self, visit: Visit, fetched: Fetched) -> None:
        """Leave the host alone as long as it asks, or as its friction asks for it."""
        lane, standing = visit.lane, visit.lane.standing
        if (seconds := silence_after(lane, fetched)) > 0:
            visit.end("cool_down")
            await self._fall_silent(lane, fetched, seconds)
        if standing.unheard >= UNHEARD:
            visit.end("unreachable")
            seconds = min(SILENT_SECONDS * 2.0**standing.refusals, LONGEST_SILENCE)
            standing.refusals += 1
            await self._inbox.silence(lane, seconds, f"{UNHEARD} requests in a row had no answer")
        if standing.must_stop and not lane.assisted:
            visit.end("friction")
            what = f"{standing.signals} signs of friction in a visit, risk {standing.score:.0f}"
            await self._inbox.silence(lane, FRICTION_SECONDS, what)

    async def _fall_silent(self, lane: Lane, fetched: Fetched, seconds: float) -> None:
        """As a host asks for; committed before its next request."""
        if seconds > 0:
            lane.standing.refusals += 1
            await self._inbox.silence(lane, seconds, f"answered {fetched.status}")


def refusal_of(fetched: Fetched) -> tuple[str, ...]:
    """The signal of an answer whose content is not judged."""
    return (str(fetched.status),) if fetched.outcome is Outcome.BLOCKED else ()


def silence_after(lane: Lane, fetched: Fetched) -> float:
    """How long a host wants to be left alone after an answer; longer each time it does not say."""
    if fetched.outcome is not Outcome.BLOCKED or fetched.status not in (429, 503):
        return 0.0
    if fetched.retry_after is not None:
        return fetched.retry_after
    return min(SILENT_SECONDS * 2.0**lane.standing.refusals, LONGEST_SILENCE)


def is_better(later: PageReadResult, best: PageReadResult) -> bool:
    """Whether what another provider brought may stand for the page instead."""
    if later.fetched.error_type == PROVIDER_FAULT:
        return False
    return later.fetched.outcome in GOOD or best.fetched.outcome not in GOOD


def refuse(lane: Lane, task: Task, decision: Decision) -> PageResult:
    """A page that may not be fetched; the question is asked anew when it is due again."""
    again = cadence.after_success(task, lane.policy.frequency)
    return PageResult(lane, task, decision, again, decision.rule)


def schedule(lane: Lane, task: Task, fetched: Fetched, hops: Sequence[Fetched]) -> Schedule:
    """When the page is due again."""
    # A shell is tried again soon where it was a service that failed, and not the page.
    faults = [hop for hop in hops if hop.error_type == PROVIDER_FAULT]
    unhelped = bool(faults) and fetched.outcome in (Outcome.EMPTY, Outcome.UNCHANGED)
    if unhelped and not any(hop.sent_at for hop in faults):
        soonest = min(hop.retry_after or EXHAUSTED_SECONDS for hop in faults)
        return cadence.after_waiting(task, soonest)
    if unhelped or fetched.outcome in RETRYABLE:
        wait = max(fetched.retry_after or 0.0, EXHAUSTED_SECONDS if hops else 0.0)
        return cadence.after_failure(task, lane.policy.frequency, wait)
    if lane.policy.harvest == "asked" or task.depth > lane.policy.max_crawl_depth:
        return Schedule("completed", None, 0)  # until somebody asks again
    if fetched.outcome is Outcome.NOT_FOUND:
        return cadence.after_gone()
    return cadence.after_success(task, lane.policy.frequency)
