"""Robots tasks: reads a robots.txt, follows its redirects, and applies it to the lane.

A redirect within the host is followed at once, each hop paced. A redirect to another host is read
in that host's lane while this one waits. Sitemaps named by a robots.txt become tasks. If https
cannot be connected to and never could, the robots.txt of http is requested.
"""

from __future__ import annotations

from dataclasses import dataclass

from messor.crawl.flush_queue import FlushQueue
from messor.crawl.page_result import PageResult
from messor.fetch.failures import is_unconnected
from messor.fetch.outcome import Fetched, Outcome
from messor.fetch.proxies.proxy import PROXY_FAULT
from messor.fetch.terms import TermsFetcher
from messor.frontier.cadence import Schedule
from messor.frontier.pages import SITEMAPS, NewPage
from messor.frontier.tasks import ROBOTS_PRIORITY, SITEMAP_PRIORITY, Task
from messor.ledger.decisions import Decision
from messor.ledger.events import Event
from messor.politeness.lanes import Lane
from messor.politeness.robots import (
    FRESH_SECONDS,
    RETRY_SECONDS,
    SCHEMES,
    Adopted,
    RobotsFile,
)
from messor.politeness.robots_redirects import MAX_HOPS, RobotsResult
from messor.web.robots import MAX_BYTES
from messor.web.suffixes import registrable_domain
from messor.web.urls import Url, http_twin, parse, scheme_of, url_hash

WAIT_SECONDS = 5.0  # how often to check whether a robots.txt on another host was read
PROXY_SECONDS = 60.0  # before a retry after a proxy failed
LONG_DELAY = 300.0  # seconds of Crawl-delay that are reported to reviewers
MAX_SITEMAPS = 50  # of one robots.txt


@dataclass(slots=True)
class _Followed:
    """The end of a robots.txt's redirects within its host."""

    fetched: Fetched
    url: str
    hops: int
    before: list[Fetched]


class RobotsReader:
    """Reads robots.txt files for one worker."""

    def __init__(self, fetcher: TermsFetcher, flush_queue: FlushQueue, *, agent: str) -> None:
        self._fetcher = fetcher
        self._flush_queue = flush_queue
        self._agent = agent

    async def read(self, lane: Lane, task: Task, decision: Decision, fetched: Fetched) -> Fetched:
        """Apply a robots.txt; committed before the lane's next request.

        Returns the last response, at the end of its redirects.
        """
        end = await self._follow(lane, task, fetched)
        fresh = Schedule("completed", FRESH_SECONDS, 0)
        result = PageResult(lane, task, decision, fresh, end.fetched, hops=end.before)
        if end.fetched.error_type == PROXY_FAULT:
            result.schedule = Schedule("pending", PROXY_SECONDS, 0)
            self._flush_queue.put(
                result
            )  # the site was not reached: its previous robots.txt still applies
            return end.fetched
        target = parse(end.fetched.location or "", end.url)
        moved = end.fetched.outcome is Outcome.REDIRECTED
        if end.hops == 0 and may_use_http(lane, task, end.fetched):
            await self._fall_back_to_http(result, end)
            return end.fetched
        if moved and target is not None and target.path == "/":
            await self._adopt(result, _no_robots(end), end)
            return end.fetched
        if moved and target is not None and target.authority != lane.host and end.hops < MAX_HOPS:
            await self._read_elsewhere(result, target, end.hops + 1)
            return end.fetched
        file = self._interpret(lane, end) if not moved else _unreachable(end, target)
        if file.verdict == "deny_all":
            result.schedule = Schedule("completed", RETRY_SECONDS, 0)
        elif file.verdict == "rules":
            result.final = end.fetched.result.accepted()
        await self._adopt(result, file, end)
        return end.fetched

    async def _follow(self, lane: Lane, task: Task, fetched: Fetched) -> _Followed:
        end = _Followed(fetched, task.url, 0, [])
        while end.fetched.outcome is Outcome.REDIRECTED and end.hops < MAX_HOPS:
            target = parse(end.fetched.location or "", end.url)
            if target is None or target.authority != lane.host or target.path == "/":
                break
            end.before.append(end.fetched)
            permit = await lane.pace.permit()
            end.fetched = await self._fetcher.fetch(
                lane.policy, target.href, permit, cut_at=MAX_BYTES
            )
            end.url, end.hops = target.href, end.hops + 1
        return end

    def _interpret(self, lane: Lane, end: _Followed) -> RobotsFile:
        file = RobotsFile.from_response(
            end.fetched.status, end.fetched.body, self._agent, end.fetched.error
        )
        if end.fetched.status in (401, 403) and lane.policy.robots_forbidden == "deny":
            reason = f"{file.reason}, which this domain's terms treat as a denial"
            return RobotsFile("deny_all", reason, file.status_code, b"", None, None)
        return file

    async def _adopt(self, result: PageResult, file: RobotsFile, end: _Followed) -> None:
        lane, task = result.lane, result.task
        self._flush_queue.resolve_robots(RobotsResult(task.page_id, end.url, file, end.hops))
        if not is_own(lane, task):
            if file.rules is not None and file.rules.sitemaps:
                result.found = sitemaps_of(lane, task, file)
            self._flush_queue.put(result)
            return
        if file.verdict != "deny_all":
            result.found = sitemaps_of(lane, task, file)
        self._flush_queue.put(result)
        before = lane.robots_for(task.url)
        await self._flush_queue.adopt_robots(lane, _adopted(lane, task, file, end))
        self._report_if_slow(lane, file)
        if before is None:
            self._report_if_http_only(lane, task)
        # While the other scheme is open, only tasks of this one are deferred, one by one.
        if not any(lane.has_way_in(scheme) for scheme in SCHEMES):
            await self._flush_queue.silence(lane, RETRY_SECONDS, file.reason)

    async def _fall_back_to_http(self, result: PageResult, end: _Followed) -> None:
        """Fall back to http, with its own robots.txt, as https does not accept connections."""
        lane, task = result.lane, result.task
        twin = http_twin(task.url)
        assert twin is not None
        error = end.fetched.error or "no answer"
        file = RobotsFile("deny_all", f"https does not connect: {error}", None, b"", None, None)
        self._flush_queue.resolve_robots(RobotsResult(task.page_id, end.url, file, end.hops))
        result.found = [robots_page(lane, twin, found_on=task.page_id)]
        self._flush_queue.put(result)
        adopted = Adopted(lane.host_id, lane.token, "https", file, https_error=error)
        await self._flush_queue.adopt_robots(lane, [adopted])
        lane.https_error = error

    def _report_if_http_only(self, lane: Lane, task: Task) -> None:
        """Record an event once http is known to work where https does not."""
        if lane.is_http_only and scheme_of(task.url) == "http":
            data = {"host": lane.host, "scheme": "http", "https_error": lane.https_error}
            self._flush_queue.record_event(
                Event("host.http_only", "worker", lane.policy.domain_id, data=data)
            )

    def _report_if_slow(self, lane: Lane, file: RobotsFile) -> None:
        """Record an event for a Crawl-delay of minutes, which is honoured in full."""
        if (file.crawl_delay or 0.0) > LONG_DELAY:
            data = {"host": lane.host, "crawl_delay": file.crawl_delay}
            self._flush_queue.record_event(
                Event("robots.slow", "worker", lane.policy.domain_id, data=data)
            )

    async def _read_elsewhere(self, result: PageResult, target: Url, hops: int) -> None:
        """Queue the file in its own host's lane; until it is read, this lane sends nothing."""
        lane, task = result.lane, result.task
        page = NewPage(
            lane.policy.domain_id,
            target.authority,
            url_hash(target),
            target.href,
            "redirect",
            task.page_id,
            0,
            hops,
            finder=lane.host_id,
            kind="robots",
            priority=ROBOTS_PRIORITY,
        )
        result.found = [page]
        self._flush_queue.put(result)
        await self._flush_queue.await_robots(lane, task, page, hops, own=is_own(lane, task))
        scheme = scheme_of(task.url)
        lane.robots.pop(scheme, None)
        lane.robots_ids.pop(scheme, None)
        lane.pace.be_silent(WAIT_SECONDS)


def _adopted(lane: Lane, task: Task, file: RobotsFile, end: _Followed) -> list[Adopted]:
    """The versions to apply; a file found at the other scheme's location applies to both."""
    heard = end.fetched.status is not None or end.fetched.error_type == "tls"
    schemes = {scheme_of(task.url)}
    if end.url == f"{scheme_of(end.url)}://{lane.host}/robots.txt":
        schemes.add(scheme_of(end.url))
    return [
        Adopted(
            lane.host_id,
            lane.token,
            scheme,
            file,
            spoke_https=scheme == "https" and (heard or end.hops > 0),
        )
        for scheme in sorted(schemes)
    ]


def may_use_http(lane: Lane, task: Task, fetched: Fetched) -> bool:
    """Whether http may replace https: https refuses connections and has never worked.

    An invalid certificate is a response: such a site is not fetched over http instead.
    """
    if lane.spoke_https or not is_unconnected(fetched) or not is_own(lane, task):
        return False
    return http_twin(task.url) is not None


def robots_page(lane: Lane, url: Url, found_on: int) -> NewPage:
    """The robots task for a URL's scheme, host and port."""
    robots = f"{url.origin}/robots.txt"
    return NewPage(
        lane.policy.domain_id,
        url.authority,
        url_hash(robots),
        robots,
        "robots",
        found_on,
        0,
        0,
        finder=lane.host_id,
        kind="robots",
        priority=ROBOTS_PRIORITY,
    )


def is_own(lane: Lane, task: Task) -> bool:
    """Whether a robots task reads its host's own robots.txt, not the target of another's redirect."""
    url = parse(task.url)
    return (
        url is not None
        and url.href == f"{url.origin}/robots.txt"
        and registrable_domain(url.host) == lane.policy.domain
    )


def sitemaps_of(lane: Lane, task: Task, file: RobotsFile) -> list[NewPage]:
    """The sitemaps a robots.txt names, or /sitemap.xml if it names none."""
    named = file.rules.sitemaps[:MAX_SITEMAPS] if file.rules else []
    found: dict[bytes, NewPage] = {}
    for text in named or ["/sitemap.xml"]:
        url = parse(text, task.url)
        if url is None or registrable_domain(url.host) != lane.policy.domain:
            continue
        page = NewPage(
            lane.policy.domain_id,
            url.authority,
            url_hash(url),
            url.href,
            "robots",
            task.page_id,
            0,
            0,
            finder=lane.host_id,
            kind="sitemap",
            priority=SITEMAP_PRIORITY,
            pattern=SITEMAPS,
            due=lane.policy.harvest == "site",
        )
        found[page.url_hash] = page
    return list(found.values())


def _no_robots(end: _Followed) -> RobotsFile:
    """A site that redirects missing files to its homepage has no robots.txt."""
    reason = "robots.txt redirects to the homepage"
    return RobotsFile("allow_all", reason, end.fetched.status, b"", None, None)


def _unreachable(end: _Followed, target: Url | None) -> RobotsFile:
    """A robots.txt whose redirects do not lead to a file."""
    if target is None:
        reason = "robots.txt redirects to an invalid URL"
        return RobotsFile("deny_all", reason, end.fetched.status, b"", None, None)
    reason = f"robots.txt redirects more than {MAX_HOPS} times"
    return RobotsFile("allow_all", reason, end.fetched.status, b"", None, None)
