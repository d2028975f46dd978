"""The path of a page: decide, pace, fetch, read, schedule, keep.

`Visitor.visit` runs it for every due task of one lane.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from logging import DEBUG, INFO

from messor.core import clock
from messor.core.logs import log, room_logger
from messor.core.metrics import Metrics
from messor.crawl.attempts import Attempts, schedule
from messor.crawl.crash_markers import CrashMarker
from messor.crawl.flush_queue import FlushQueue
from messor.crawl.http_fallback import HttpFallback
from messor.crawl.images import MAX_BYTES as IMAGE_BYTES
from messor.crawl.images import ImageReader
from messor.crawl.in_progress import TaskInProgress
from messor.crawl.keep import Keeper
from messor.crawl.page_result import PageResult
from messor.crawl.paid_calls import PaidCalls
from messor.crawl.preflight import KIND, PreflightReader
from messor.crawl.proofs import ProofReader
from messor.crawl.read import PageReadResult, Reader
from messor.crawl.robots import RobotsReader, robots_page
from messor.crawl.rules import DueTask, decide_task
from messor.crawl.sitemaps import SitemapTaskReader
from messor.errors import LeaseLostError, UnavailableError
from messor.fetch.identity.signer import Fields
from messor.fetch.outcome import Fetched, Outcome
from messor.fetch.provider import PROVIDER_FAULT, Provider
from messor.fetch.proxies.proxy import PROXY_FAULT
from messor.fetch.router import ProviderChoice, Router
from messor.fetch.terms import TermsFetcher
from messor.frontier import cadence
from messor.frontier.cadence import Schedule
from messor.frontier.tasks import Task
from messor.governance.payment import Payments
from messor.governance.site_proofs import MAX_FILE
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

FIRST_SILENCE_SECONDS = 60.0  # after 429 or 503 without Retry-After; doubles each time
MAX_SILENCE_SECONDS = 3600.0
FRICTION_SECONDS = 3600.0  # after a visit that was stopped early
MAX_UNANSWERED = 5  # consecutive requests without a response before a host counts as down
DEFERRED_SECONDS = 5.0  # before a deferred lane is claimed again

# Long robots files and sitemaps are truncated (RFC 9309 2.5, sitemaps.org); images are read just
# far enough to see that they are too large.
CUT_AT = {
    "robots": MAX_BYTES, "sitemap": SITEMAP_BYTES, "image": IMAGE_BYTES + 1, "proof": MAX_FILE,
}  # fmt: skip


# Parsing is CPU work on the event loop. A few pages per turn, so that flushes, timers and other
# hosts' sockets never wait behind a hundred pages that arrived together.
READ_PER_TURN = 8


logger = room_logger(__name__)


class Visit:
    """A visit in progress: its lane, its remaining tasks, and why it ended."""

    def __init__(self, lane: Lane, tasks: list[Task], seconds: float) -> None:
        self.lane = lane
        self.pages = 0
        self.reason = "done"
        # One request at a time, unless the lane's delay is 0: then one per slot. A pending
        # robots.txt is read before anything else, so it also means a single runner.
        reads_robots = any(task.kind == "robots" for task in tasks)
        self.runners = lane.slots if lane.pace.delay == 0 and not reads_robots else 1
        self._tasks = iter(tasks)
        self._deadline = clock.now() + seconds
        self._ended = False

    def due(self) -> Iterator[Task]:
        """Yield the next task to whichever runner is free, until the visit ends."""
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
        flush_queue: FlushQueue,
        *,
        robots: RobotsReader,
        sitemaps: SitemapTaskReader,
        images: ImageReader,
        proofs: ProofReader,
        preflights: PreflightReader,
        http_fallback: HttpFallback,
        paid_calls: PaidCalls,
        payments: Payments,
        crash_marker: CrashMarker,
        agent: str,
        metrics: Metrics,
    ) -> None:
        self._metrics = metrics
        self._fetcher = fetcher
        self._router = router
        self._reader = reader
        self._keeper = keeper
        self._flush_queue = flush_queue
        self._robots = robots
        self._sitemaps = sitemaps
        self._images = images
        self._proofs = proofs
        self._preflights = preflights
        self._http_fallback = http_fallback
        self._paid_calls = paid_calls
        self._payments = payments
        self._crash_marker = crash_marker
        self._agent = agent
        self._reading = asyncio.Semaphore(READ_PER_TURN)
        self._stopping = False
        self.lacks_space = False  # no disk space left to store what would be fetched

    def stop(self) -> None:
        """End visits after their current page."""
        self._stopping = True

    @property
    def _end_reason(self) -> str | None:
        """Why visits must end after their current page; None while they may go on."""
        if self._stopping:
            return "stopped"
        return "disk_full" if self.lacks_space else None

    async def hold(self, visit: Visit) -> None:
        """Run a visit from start to end; the lane is given back whatever happens."""
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
            self._flush_queue.cut_off(lane)
            self._flush_queue.give_back(lane, visit.pages, visit.reason)
            log(logger, INFO, "visit ended", host=lane.host, pages=visit.pages, reason=visit.reason)

    async def visit(self, visit: Visit) -> None:
        """Take each due task of the lane through decide, pace, fetch, read, schedule, keep."""
        for task in visit.due():
            if self._end_reason is not None:
                visit.end(self._end_reason)
                break
            with self._metrics.stage("decide"):
                decision = await self._decide(visit, task)
            if decision is None:
                continue

            ABOUT.set(TaskInProgress(task, decision))
            if task.kind == KIND:
                await self._preflight(visit, task)
                continue
            permit = await self._pace(visit)
            if permit is None:
                break
            fetched = await self._begin(visit, task, permit)
            visit.pages += 1
            if task.kind == "robots":
                fetched = await self._read_robots(visit, task, decision, fetched)
            elif task.kind in ("sitemap", "image", "proof"):
                await self._read_other(visit, task, decision, fetched)
            else:
                fetched = await self._take_page(visit, task, decision, fetched)
            await self._back_off(visit, fetched)

    async def _take_page(
        self, visit: Visit, task: Task, decision: Decision, fetched: Fetched
    ) -> Fetched:
        """Read, schedule and keep a page; returns the last attempt."""
        lane = visit.lane
        attempts = await self._read(visit, task, fetched)
        best = attempts.best
        next_due = schedule(lane, attempts)
        result = PageResult(
            lane, task, decision, next_due, best.fetched, hops=attempts.others,
            next_provider=attempts.next_provider, shell_hash=attempts.shell_hash,
            paid_repeats=attempts.paid_repeats,
        )  # fmt: skip
        with self._metrics.stage("keep"):
            self._keep(result, best)
        log(
            logger, DEBUG, "page kept", url=task.url, outcome=result.outcome,
            provider=best.fetched.provider, gates=best.verdict.gates or None,
            next_in_seconds=next_due.due_in,
        )  # fmt: skip
        return attempts.last.fetched

    async def _decide(self, visit: Visit, task: Task) -> Decision | None:
        """Return the decision that allows the task, or None if it was denied, deferred or redirected."""
        lane = visit.lane
        if lane.https_error is not None and self._http_fallback.redirect_to_http(lane, task):
            return None
        decision = self._evaluate_rules(lane, task)
        if decision.verdict is Verdict.DEFERRED:
            await self._defer(visit, task, decision)
            return None
        if decision.verdict is Verdict.DENIED:
            log(
                logger, DEBUG, "page refused", url=task.url, rule=decision.rule, why=decision.reason
            )
            self._flush_queue.put(refused(lane, task, decision))
            return None
        return decision

    async def _read_robots(
        self, visit: Visit, task: Task, decision: Decision, fetched: Fetched
    ) -> Fetched:
        """Read a robots.txt; end the visit if the applicable one has yet to be read."""
        lane = visit.lane
        fetched = await self._robots.read(lane, task, decision, fetched)
        if not lane.robots or (lane.https_error is not None and "http" not in lane.robots):
            visit.end("robots")
        return fetched

    async def _defer(self, visit: Visit, task: Task, decision: Decision) -> None:
        """Postpone a task that may not run yet: alone, or with its whole lane."""
        lane = visit.lane
        if decision.rule == "robots":
            url = parse(task.url)
            assert url is not None, "tasks hold web addresses"
            if url.scheme not in lane.robots:
                # First URL of this scheme on this host: read its robots.txt first.
                await self._flush_queue.find([robots_page(lane, url, found_on=task.page_id)])
            elif any(lane.has_way_in(scheme) for scheme in SCHEMES):
                later = Schedule("pending", RETRY_SECONDS, task.retry_count, rounds=task.rounds)
                self._flush_queue.put(PageResult(lane, task, decision, later))
                return
        visit.end(decision.rule)
        lane.pace.be_silent(DEFERRED_SECONDS)

    async def _read_other(
        self, visit: Visit, task: Task, decision: Decision, fetched: Fetched
    ) -> None:
        """Read a response that is not a page: a sitemap, an image or the file of a proof."""
        if task.kind == "image":
            self._images.read(visit.lane, task, decision, fetched)
        elif task.kind == "proof":
            await self._proofs.read(visit.lane, task, decision, fetched)
        else:
            await self._sitemaps.read(visit.lane, task, decision, fetched)
        await self._record_friction(visit, task, fetched, refusal_of(fetched))

    async def _preflight(self, visit: Visit, task: Task) -> None:
        """Run the pre-flight of a domain in review."""
        preflight = await self._preflights.run(visit.lane, task)
        visit.pages += preflight.requests
        fetched = preflight.result.fetched
        assert fetched is not None
        await self._record_friction(visit, task, fetched, preflight.signals)
        self._flush_queue.put(preflight.result)
        await self._back_off(visit, fetched)

    async def _pace(self, visit: Visit) -> Permit | None:
        """Wait until the lane may send; None if that is not within this visit."""
        await self._flush_queue.room.wait()
        if visit.lane.pace.ready_in > visit.remaining:
            visit.end("pace")
            return None
        with self._metrics.stage("pace"):
            permit = await visit.lane.pace.permit()
        if visit.lane.host_id in self._flush_queue.closed:
            visit.end("registry")  # suspended during the wait
        elif self.lacks_space:
            visit.end("disk_full")
        return None if visit.ended else permit

    async def _begin(self, visit: Visit, task: Task, permit: Permit) -> Fetched:
        """The first attempt: by HTTP, or by the provider remembered before a pause."""
        lane = visit.lane
        if task.next_provider is not None and task.kind == "page":
            refused = task.outcome == Outcome.BLOCKED
            provider = self._router.resumed(lane.policy, task.next_provider, refused=refused)
            if provider is not None:
                return await self._ask(provider, task, permit)
        fetched = await self._fetch(lane, task, permit)
        if fetched.is_challenged:
            fetched = await self._answer(visit, task, fetched)
        return await self._pay(visit, task, fetched) if fetched.result.quote else fetched

    async def _answer(self, visit: Visit, task: Task, challenge: Fetched) -> Fetched:
        """Repeat a request that the site wants signed in its way, within pace; else next time."""
        pause = silence_after(visit.lane, challenge)
        if pause > visit.remaining:
            return challenge
        await self._silence(visit.lane, challenge, pause)
        permit = await self._pace(visit)
        if permit is None:
            return challenge
        visit.pages += 1
        fetched = await self._fetch(visit.lane, task, permit)
        challenge.let_go()
        fetched.earlier = challenge
        return fetched

    async def _pay(self, visit: Visit, task: Task, priced: Fetched) -> Fetched:
        """Repeat a request with an approved price, within pace; else the price is the outcome."""
        lane = visit.lane
        offered = await self._payments.offer(lane.policy.domain_id, task.page_id, priced)
        if offered is None:
            return priced
        reserved, fields = offered
        permit = await self._pace(visit)
        if permit is None:
            await self._payments.settle(reserved, None)
            return priced
        visit.pages += 1
        fetched = await self._fetch(lane, task, permit, price=fields)
        await self._payments.settle(reserved, fetched)
        priced.let_go()
        fetched.earlier = priced
        return fetched

    async def _read(self, visit: Visit, task: Task, fetched: Fetched) -> Attempts:
        """Read a response; while it fails a gate and another provider may do better, try that one.

        A provider that is not due within this visit is remembered, to start with next time.
        """
        lane = visit.lane
        attempts = Attempts.begin(task, await self._read_response(visit, task, fetched))
        if attempts.resumed and fetched.provider in self._router.paid:
            attempts.paid_repeats = (await self._paid_calls.history(task.page_id)).repeats
        while provider := await self._next_provider(lane, attempts):
            last = attempts.last.fetched
            attempts.pause = silence_after(lane, last)
            permit = None
            if attempts.pause <= visit.remaining:
                await self._silence(lane, last, attempts.pause)
                permit = await self._pace(visit)
            if permit is None:
                attempts.next_provider = provider.name
                break
            fetched = await self._ask(provider, task, permit)
            visit.pages += 1
            attempts.add(await self._read_response(visit, task, fetched))
        attempts.settle()
        return attempts

    async def _ask(self, provider: Provider, task: Task, permit: Permit) -> Fetched:
        """Have another provider fetch the page."""
        if not provider.is_remote:
            with self._metrics.stage("fetch"):
                return await provider.fetch(task.url, permit)
        with self._crash_marker.calling(), self._metrics.stage("fetch"):
            return await provider.fetch(task.url, permit)

    async def _next_provider(self, lane: Lane, attempts: Attempts) -> Provider | None:
        """Choose the provider to try after a response; log providers skipped because they are paused."""
        choice = self._choose(lane, attempts)
        if choice.provider is None:
            attempts.others += choice.passed_over
            return None
        attempts.compare_shell()
        if choice.provider.paid and attempts.task.snapshot_id is not None:
            history = await self._paid_calls.history(attempts.task.page_id)
            attempts.paid_repeats, attempts.proof = history.repeats, history.proof
            choice = self._choose(lane, attempts)
            if choice.provider is None or not choice.provider.paid:
                attempts.paid_repeats = None
        attempts.others += choice.passed_over
        return choice.provider

    def _choose(self, lane: Lane, attempts: Attempts) -> ProviderChoice:
        last = attempts.last
        return self._router.after(
            lane.policy,
            last.fetched,
            last.verdict,
            text_length=last.reading.text_length if last.reading else 0,
            same_shell=last.same_shell,
            is_proved=attempts.is_proved,
        )

    async def _read_response(self, visit: Visit, task: Task, fetched: Fetched) -> PageReadResult:
        if fetched.body:
            async with self._reading:
                with self._metrics.stage("read"):
                    read_result = self._reader.read(visit.lane, task, fetched)
                await asyncio.sleep(0)  # further pages are read in the loop's next turn
        else:
            read_result = self._reader.read(visit.lane, task, fetched)
        if read_result.needs_sandbox:
            await self._reader.read_in_sandbox(task, read_result)
        await self._record_friction(visit, task, fetched, read_result.verdict.signals)
        return read_result

    async def _record_friction(
        self, visit: Visit, task: Task, fetched: Fetched, signals: Sequence[str]
    ) -> None:
        """Raise the host's risk and slow the lane; committed before its next request."""
        lane = visit.lane
        if fetched.error_type not in (PROXY_FAULT, PROVIDER_FAULT):
            lane.risk.note_latency(fetched.duration)
        if fetched.outcome.is_good:
            lane.risk.refusals = 0
        if not signals:
            return
        now = clock.now()
        friction = [
            Friction(lane, task.page_id, signal, points, score, now)
            for signal, points, score in lane.risk.add_signals(signals)
        ]
        if not friction:
            return
        slower = delay_of(lane.risk.score)
        if slower > lane.pace.delay and visit.runners > 1:
            visit.end("friction")  # parallel runners cannot keep a delay
        lane.pace.slow_down_to(slower)
        risk = round(lane.risk.score, 1)
        data = {"host": lane.host, "signals": [f.signal for f in friction], "risk": risk}
        event = Event("friction.detected", "worker", lane.policy.domain_id, task.page_id, data)
        log(logger, INFO, "friction", url=task.url, **data)
        await self._flush_queue.add_friction(friction, event)

    def _keep(self, result: PageResult, read_result: PageReadResult) -> None:
        result.raw_hash = read_result.raw_hash
        fault = read_result.fault
        if fault is None:
            try:
                self._keeper.keep(result, read_result)
            except UnavailableError:
                raise  # the archive cannot be written: the page stays due
            except Exception as error:  # noqa: BLE001 - a page that breaks its reader is quarantined
                fault = error
        if fault is not None:
            self._flush_queue.blame(result, "parse", fault)
        if result.is_fetched_well:
            result.lane.good_at = clock.now()
        else:
            result.raw_hash = None  # the same block page again is not "unchanged"
        self._flush_queue.put(result)

    def _evaluate_rules(self, lane: Lane, task: Task) -> Decision:
        closed = lane.host_id in self._flush_queue.closed
        return decide_task(DueTask(lane, task, self._agent, closed))

    async def _fetch(self, lane: Lane, task: Task, permit: Permit, price: Fields = ()) -> Fetched:
        with self._metrics.stage("fetch"):
            fetched = await self._fetcher.fetch(
                lane.policy,
                task.url,
                permit,
                etag=task.etag,
                last_modified=task.last_modified,
                cut_at=CUT_AT.get(task.kind),
                wire_tag=task.wire_tag if task.kind == "page" and task.snapshot_id else None,
                price=price,
            )
        log(
            logger, DEBUG, "fetched", url=task.url, kind=task.kind, status=fetched.status,
            outcome=fetched.outcome, error=fetched.error_type, ms=round(fetched.duration * 1000),
        )  # fmt: skip
        lane.risk.note_request(
            answered=fetched.status is not None or fetched.error_type == PROXY_FAULT
        )
        return fetched

    async def _back_off(self, visit: Visit, fetched: Fetched) -> None:
        """Silence the host if it asked for it, does not respond, or shows too much friction."""
        lane, risk = visit.lane, visit.lane.risk
        if (seconds := silence_after(lane, fetched)) > 0:
            visit.end("cool_down")
            await self._silence(lane, fetched, seconds)
        if risk.unanswered >= MAX_UNANSWERED:
            visit.end("unreachable")
            seconds = min(FIRST_SILENCE_SECONDS * 2.0**risk.refusals, MAX_SILENCE_SECONDS)
            risk.refusals += 1
            await self._flush_queue.silence(
                lane, seconds, f"{MAX_UNANSWERED} consecutive requests had no answer"
            )
        if risk.should_stop_visit and not lane.assisted:
            visit.end("friction")
            reason = f"{risk.signals} friction signals in one visit, risk {risk.score:.0f}"
            await self._flush_queue.silence(lane, FRICTION_SECONDS, reason)

    async def _silence(self, lane: Lane, fetched: Fetched, seconds: float) -> None:
        """Stop sending to a host for a while; committed before its next request."""
        if seconds > 0:
            lane.risk.refusals += 1
            await self._flush_queue.silence(lane, seconds, f"answered {fetched.status}")


def refusal_of(fetched: Fetched) -> tuple[str, ...]:
    """The friction signal of a response whose content is not judged."""
    return (str(fetched.status),) if fetched.outcome is Outcome.BLOCKED else ()


def silence_after(lane: Lane, fetched: Fetched) -> float:
    """Seconds of silence a response asks for: Retry-After, else exponential back-off."""
    if fetched.status not in (429, 503):
        return 0.0
    if fetched.retry_after is not None:
        return fetched.retry_after
    return min(FIRST_SILENCE_SECONDS * 2.0**lane.risk.refusals, MAX_SILENCE_SECONDS)


def refused(lane: Lane, task: Task, decision: Decision) -> PageResult:
    """The result of a page that may not be fetched; decided again when it is next due."""
    next_due = cadence.after_refusal(task, lane.policy.frequency)
    return PageResult(lane, task, decision, next_due)
