"""The politeness audit: whether every logged request followed the rules in force at its time.

Gaps within a visit are exact to the millisecond. Gaps between visits are differences of
`fetched_at`, the database's time as each worker knows it; `ACROSS_MS` is the tolerance for how much
two of them may differ. A delay that people raised between two visits (terms, a mode, the setting)
is required from the second request on; one that robots.txt demands applies at once. URLs are judged
by the robots.txt that the row names, as this release parses it for the currently configured agent;
requests of a pre-flight, which stores no robots.txt, by the number its report allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from messor.fetch.retry_after import parse_retry_after
from messor.ops import fetch_log
from messor.ops.fetch_log import STAMP_ERROR, LoggedRequest
from messor.ops.report import EARLY, Gap, LaneReport, PolitenessFinding, PolitenessReport, RobotsUse
from messor.politeness.risk import CRITICAL
from messor.politeness.robots import RobotsCache, RobotsInForce
from messor.registry.domains import Domain
from messor.registry.preflights import MOST_REQUESTS
from messor.store.database import Database

WITHIN_MS = 5.0  # gaps are truncated to whole milliseconds, and so are delays
ACROSS_MS = STAMP_ERROR / timedelta(milliseconds=1)
# Retry-After counts whole seconds, or is a date on a foreign clock.
RETRY_TOLERANCE = timedelta(seconds=1)
ROBOTS_CACHE_SIZE = 16  # lanes come one after the other, so few robots.txt are needed at a time

Progress = Callable[[int], None]
Objection = tuple[str, str]  # a finding's kind, and why


async def audit(
    database: Database,
    *,
    agent: str,
    domain: Domain | None = None,
    since: datetime | None = None,
    progress: Progress = lambda _: None,
) -> PolitenessReport:
    """Audit every request in the log, or those of a domain or since a time.

    `progress` receives the number of rows read so far. Two connections are used.
    """
    report = PolitenessReport(domain.domain if domain else None, since)
    auditor = _Auditor(report, RobotsCache(database, agent, ROBOTS_CACHE_SIZE), agent)
    read = 0
    async with database.transaction() as connection:
        async for requests in fetch_log.read(connection, domain.id if domain else None, since):
            for request in requests:
                await auditor.see(request)
            read += len(requests)
            progress(read)
    auditor.close_lane()
    report.lanes.sort(key=lambda lane: lane.badness)
    return report


class _Auditor:
    """Reads requests lane by lane and fills a report."""

    def __init__(self, report: PolitenessReport, robots_cache: RobotsCache, agent: str) -> None:
        self._report = report
        self._robots_cache = robots_cache
        self._agent = agent
        self._lane: _LaneAuditor | None = None
        self._robots: RobotsInForce | None = None

    async def see(self, request: LoggedRequest) -> None:
        lane = self._lane
        if lane is None or lane.host_id != request.host_id:
            self.close_lane()
            lane = self._lane = _LaneAuditor(request.host_id, request.host)
        objections = list(lane.judge(request))
        if not request.counted:
            return
        lane.count(request)
        if lane.gap is not None:
            self._report.count(lane.gap)
        objections += await self._check_robots(request)
        for kind, why in objections:
            lane.report.found[kind] += 1
            finding = PolitenessFinding(
                kind, request.host, request.url, request.at, why, request.robots_id
            )
            self._report.list_finding(finding)

    def close_lane(self) -> None:
        if self._lane is not None and self._lane.report.requests:
            self._report.lanes.append(self._lane.report)
        self._lane = None

    async def _check_robots(self, request: LoggedRequest) -> list[Objection]:
        """Check a page against the version of robots.txt in force.

        Robots.txt itself is always allowed.
        """
        if request.kind == "robots" or request.is_look:  # a pre-flight reads robots.txt itself
            return []
        if request.kind is not None and request.robots_id is None:
            return [("no_robots", "no version of robots.txt was in force")]
        if request.url is None or request.robots_id is None or request.robots_at is None:
            self._report.unknown_robots += 1
            return []
        if self._robots is None or self._robots.id != request.robots_id:
            found = await self._robots_cache.get({request.robots_id})
            self._robots = found[request.robots_id]
        objection = self._robots.objection(self._agent, request.url)
        if objection is None:
            return []
        version = f"version {request.robots_id} of robots.txt, read {_time(request.robots_at)}"
        return [("robots", f"{objection.reason} ({version})")]


class _LaneAuditor:
    """Follows one lane through time."""

    def __init__(self, host_id: int, host: str) -> None:
        self.host_id = host_id
        self.report = LaneReport(host)
        self.gap: Gap | None = None  # before the request judged last, if it could be judged
        self._last: LoggedRequest | None = None  # the newest that was certainly sent
        self._robots: dict[int, RobotsUse] = {}
        self._silences: list[tuple[datetime, datetime]] = []  # demanded by the host; disjoint

    def judge(self, request: LoggedRequest) -> Iterator[Objection]:
        """Objections to a request other than robots.txt; requests come in order of time."""
        yield from self._judge_gap(request)
        if request.closed_by is not None:
            yield "not_approved", _standing(request)
        if request.is_look:
            yield from _judge_preflight(request)
        silence = self._silence_at(request.at)
        if silence is not None:
            requested, until = _time(silence[0]), _time(silence[1])
            yield "retry_after", f"the host demanded at {requested} a pause until {until}"
        if request.critical_since is not None:
            since = _time(request.critical_since)
            yield "critical", f"the host's risk was above {CRITICAL:g} since {since}"
        self._note_response(request)

    def count(self, request: LoggedRequest) -> None:
        report = self.report
        report.requests += 1
        if not request.was_sent:
            report.unanswered += 1
        elif request.delay_ms == 0:
            report.unpaced += 1
        if self.gap is not None:
            report.gaps += 1
            if report.smallest is None or self.gap.ratio < report.smallest.ratio:
                report.smallest = self.gap
        self._count_robots(request)

    def _judge_gap(self, request: LoggedRequest) -> Iterator[Objection]:
        self.gap = None
        if not request.was_sent:
            return
        last, self._last = self._last, request
        if not request.delay_ms:
            return
        if request.waited_ms and (last is None or last.visit == request.visit):
            gap, due, tolerance = float(request.waited_ms), float(request.delay_ms), WITHIN_MS
        elif last is not None:
            gap = (request.at - last.at) / timedelta(milliseconds=1)
            due, tolerance = _due_across(last, request), ACROSS_MS
        else:
            return
        if due <= 0:
            return
        self.gap = Gap(gap, due, request.at, request.url)
        if gap < due - tolerance:
            yield EARLY, f"came {gap:,.0f} ms after the previous request; {due:,.0f} ms were due"

    def _silence_at(self, at: datetime) -> tuple[datetime, datetime] | None:
        self._silences = [silence for silence in self._silences if silence[1] > at]
        for silence in self._silences:
            if silence[0] <= at < silence[1] - RETRY_TOLERANCE:
                return silence
        return None

    def _note_response(self, request: LoggedRequest) -> None:
        """Remember what a response demands; it applies from the response's arrival."""
        answered = request.at + timedelta(milliseconds=request.duration_ms)
        seconds = parse_retry_after(request.retry_after, now=answered)
        if not seconds:
            return
        begin, end = answered, answered + timedelta(seconds=seconds)
        apart = []
        for silence in self._silences:
            if silence[0] <= end and begin <= silence[1]:
                begin, end = min(begin, silence[0]), max(end, silence[1])
            else:
                apart.append(silence)
        self._silences = [*apart, (begin, end)]

    def _count_robots(self, request: LoggedRequest) -> None:
        if request.robots_id is None:
            return
        use = self._robots.get(request.robots_id)
        if use is None:
            use = RobotsUse(request.robots_id, request.robots_at, request.at, request.at)
            self._robots[request.robots_id] = use
            self.report.robots.append(use)
        use.last = request.at
        use.requests += 1


def _due_across(last: LoggedRequest, request: LoggedRequest) -> float:
    """The pause due between two visits: a raised delay applies once both sides know of it."""
    delay = float(request.delay_ms or 0)
    agreed = min(delay, float(last.delay_ms or 0))
    return max(agreed, min(delay, request.crawl_delay_ms or 0.0))


def _judge_preflight(request: LoggedRequest) -> Iterator[Objection]:
    """A pre-flight has few requests, and fewer where its robots.txt disallows it."""
    place, most = request.look_place or 1, request.look_most
    if place > MOST_REQUESTS:
        why = f"a pre-flight may send {MOST_REQUESTS} requests; this was number {place}"
        yield "not_approved", why
    elif place > most:
        left = f"after its robots.txt the pre-flight was allowed {most} of {MOST_REQUESTS} requests"
        yield "robots", f"{left}; this was number {place}"


def _standing(request: LoggedRequest) -> str:
    assert request.closed_by is not None
    assert request.closed_at is not None
    standing, when = request.closed_by.removeprefix("domain."), _time(request.closed_at)
    if request.at < request.closed_at:
        return f"the domain was not {standing} before {when}"
    return f"the domain was {standing} at {when} and not approved since"


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"
