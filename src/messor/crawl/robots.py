"""Robots tasks: reading a robots.txt, following it where it moved, and what it leads to.

Within its host a redirect is followed at once, each hop paced. Beyond it the page is read in the
lane of its own host, and this one waits. A robots.txt names sitemaps; they become tasks too.
Where https cannot be connected to and never could, the robots.txt of http is asked for.
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
from messor.politeness.robots_redirects import MAX_HOPS, RobotsAnswer
from messor.web.robots import MAX_BYTES
from messor.web.suffixes import registrable_domain
from messor.web.urls import Url, http_twin, parse, scheme_of, url_hash

WAIT_SECONDS = 5.0  # how often a host looks whether its robots.txt was read elsewhere
PROXY_SECONDS = 60.0  # before it is asked again after a proxy failed
LONG_DELAY = 300.0  # seconds of Crawl-delay that a reviewer is told of
MAX_SITEMAPS = 50  # of one robots.txt


@dataclass(slots=True)
class _Followed:
    """Where following a robots.txt within its host came to."""

    fetched: Fetched
    url: str
    hops: int
    before: list[Fetched]


class RobotsReader:
    """Reads robots.txt files for one worker."""

    def __init__(self, fetcher: TermsFetcher, inbox: FlushQueue, *, agent: str) -> None:
        self._fetcher = fetcher
        self._inbox = inbox
        self._agent = agent

    async def read(self, lane: Lane, task: Task, decision: Decision, fetched: Fetched) -> Fetched:
        """Put a robots.txt in force; it is committed before the lane's next request.

        Answers what came last, at the end of its redirects.
        """
        end = await self._follow(lane, task, fetched)
        harvest = PageResult(
            lane, task, decision, Schedule("completed", FRESH_SECONDS, 0), end.fetched.outcome
        )
        harvest.fetched, harvest.hops = end.fetched, end.before
        if end.fetched.error_type == PROXY_FAULT:
            harvest.schedule = Schedule("pending", PROXY_SECONDS, 0)
            self._inbox.put(harvest)  # the site was not heard: what it said before still counts
            return end.fetched
        target = parse(end.fetched.location or "", end.url)
        moved = end.fetched.outcome is Outcome.REDIRECTED
        if end.hops == 0 and may_use_http(lane, task, end.fetched):
            await self._ask_over_http(harvest, end)
            return end.fetched
        if moved and target is not None and target.path == "/":
            await self._adopt(harvest, _none_here(end), end)
            return end.fetched
        if moved and target is not None and target.authority != lane.host and end.hops < MAX_HOPS:
            await self._read_elsewhere(harvest, target, end.hops + 1)
            return end.fetched
        file = self._understand(lane, end) if not moved else _lost(end, target)
        if file.verdict == "deny_all":
            harvest.schedule = Schedule("completed", RETRY_SECONDS, 0)
        elif file.verdict == "rules":
            harvest.outcome = Outcome.OK
        await self._adopt(harvest, file, end)
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

    def _understand(self, lane: Lane, end: _Followed) -> RobotsFile:
        file = RobotsFile.from_answer(
            end.fetched.status, end.fetched.body, self._agent, end.fetched.error
        )
        if end.fetched.status in (401, 403) and lane.policy.robots_forbidden == "deny":
            reason = f"{file.reason}, and this domain's terms take that for a no"
            return RobotsFile("deny_all", reason, file.status_code, b"", None, None)
        return file

    async def _adopt(self, harvest: PageResult, file: RobotsFile, end: _Followed) -> None:
        lane, task = harvest.lane, harvest.task
        self._inbox.answer_robots(RobotsAnswer(task.page_id, end.url, file, end.hops))
        if not is_own(lane, task):
            if file.rules is not None and file.rules.sitemaps:
                harvest.found = sitemaps_of(lane, task, file)
            self._inbox.put(harvest)
            return
        if file.verdict != "deny_all":
            harvest.found = sitemaps_of(lane, task, file)
        self._inbox.put(harvest)
        before = lane.robots_for(task.url)
        await self._inbox.adopt_robots(lane, _adopted(lane, task, file, end))
        self._tell_if_slow(lane, file)
        if before is None:
            self._tell_if_http(lane, task)
        # While the other scheme is open only this one waits: its tasks are put off one by one.
        if not any(lane.has_way_in(scheme) for scheme in SCHEMES):
            await self._inbox.silence(lane, RETRY_SECONDS, file.reason)

    async def _ask_over_http(self, harvest: PageResult, end: _Followed) -> None:
        """Nothing listens for https here: http is tried, under a robots.txt of its own."""
        lane, task = harvest.lane, harvest.task
        twin = http_twin(task.url)
        assert twin is not None
        error = end.fetched.error or "no answer"
        file = RobotsFile("deny_all", f"https cannot be connected: {error}", None, b"", None, None)
        self._inbox.answer_robots(RobotsAnswer(task.page_id, end.url, file, end.hops))
        harvest.found = [robots_page(lane, twin, found_on=task.page_id)]
        self._inbox.put(harvest)
        adopted = Adopted(lane.host_id, lane.token, "https", file, https_error=error)
        await self._inbox.adopt_robots(lane, [adopted])
        lane.https_error = error

    def _tell_if_http(self, lane: Lane, task: Task) -> None:
        """Once it is known that http answers where https does not, everybody may know."""
        if lane.is_http_only and scheme_of(task.url) == "http":
            data = {"host": lane.host, "scheme": "http", "https_error": lane.https_error}
            self._inbox.tell(Event("host.http_only", "worker", lane.policy.domain_id, data=data))

    def _tell_if_slow(self, lane: Lane, file: RobotsFile) -> None:
        """A delay of minutes is honoured, and a reviewer may want to know."""
        if (file.crawl_delay or 0.0) > LONG_DELAY:
            data = {"host": lane.host, "crawl_delay": file.crawl_delay}
            self._inbox.tell(Event("robots.slow", "worker", lane.policy.domain_id, data=data))

    async def _read_elsewhere(self, harvest: PageResult, target: Url, hops: int) -> None:
        """Have the page read in the lane of its host; until then nothing is asked of this one."""
        lane, task = harvest.lane, harvest.task
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
        harvest.found = [page]
        self._inbox.put(harvest)
        await self._inbox.await_robots(lane, task, page, hops, own=is_own(lane, task))
        scheme = scheme_of(task.url)
        lane.robots.pop(scheme, None)
        lane.robots_ids.pop(scheme, None)
        lane.pace.be_silent(WAIT_SECONDS)


def _adopted(lane: Lane, task: Task, file: RobotsFile, end: _Followed) -> list[Adopted]:
    """What comes into force; a file that was found at the other scheme's place counts there too."""
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
    """Whether http may stand in for https: nothing listens there, and it never was heard there.

    A certificate that does not hold is an answer: whoever made it does not want http instead.
    """
    if lane.spoke_https or not is_unconnected(fetched) or not is_own(lane, task):
        return False
    return http_twin(task.url) is not None


def robots_page(lane: Lane, url: Url, found_on: int) -> NewPage:
    """The task that reads the robots.txt of a URL's own scheme, host and port."""
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
    """Whether a robots task reads its own host's robots.txt, not one that another was sent to."""
    url = parse(task.url)
    return (
        url is not None
        and url.href == f"{url.origin}/robots.txt"
        and registrable_domain(url.host) == lane.policy.domain
    )


def sitemaps_of(lane: Lane, task: Task, file: RobotsFile) -> list[NewPage]:
    """The sitemaps a robots.txt names, or the usual place when it names none."""
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


def _none_here(end: _Followed) -> RobotsFile:
    """A site that sends whatever it does not have to its front page has no robots.txt."""
    reason = "robots.txt redirects to the front page"
    return RobotsFile("allow_all", reason, end.fetched.status, b"", None, None)


def _lost(end: _Followed, target: Url | None) -> RobotsFile:
    """A robots.txt that cannot be reached by its redirects."""
    if target is None:
        reason = "robots.txt redirects to nowhere"
        return RobotsFile("deny_all", reason, end.fetched.status, b"", None, None)
    reason = f"robots.txt redirects more than {MAX_HOPS} times"
    return RobotsFile("allow_all", reason, end.fetched.status, b"", None, None)
