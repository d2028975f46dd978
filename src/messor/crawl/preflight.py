"""Pre-flight: a check of a domain in review, as a report for the reviewer.

A task kind of its own in the host's lane: robots.txt, the homepage if allowed, one sitemap. At most
three requests, each paced like any other; only the report is stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from messor.core.plurals import counted
from messor.crawl.page_result import PageResult
from messor.fetch.failures import is_unconnected
from messor.fetch.gates import judge
from messor.fetch.gates.verdict import KINDS, GateVerdict
from messor.fetch.outcome import Fetched, Outcome
from messor.fetch.terms import TermsFetcher
from messor.frontier.cadence import Schedule
from messor.frontier.tasks import Task
from messor.ledger.decisions import Decision
from messor.ledger.decisions import Verdict as Says
from messor.ledger.events import Event, record
from messor.politeness.lanes import Lane
from messor.politeness.robots import RobotsFile
from messor.registry import preflights, similar
from messor.registry.domains import checked
from messor.registry.preflights import MOST_REQUESTS, PreflightReport
from messor.store.database import Database
from messor.web import html, sitemaps
from messor.web.encodings import decode
from messor.web.html import PageReading, TooComplexError
from messor.web.robots import MAX_BYTES
from messor.web.suffixes import registrable_domain
from messor.web.urls import Url, host_of, http_twin, parse

KIND = "preflight"
MAX_PAGE = 2_000_000  # bytes of a homepage or sitemap that are read
MAX_TEXT = 500  # characters of a title or description

ALLOWED = Decision(
    Says.ALLOWED, "preflight", f"pre-flight before review: at most {MOST_REQUESTS} requests"
)

OF_TASK = "SELECT id FROM messor.preflights WHERE page_id = $1 AND finished_at IS NULL"
NAME = "SELECT domain FROM messor.domains WHERE id = $1"
CLOSE_LANE = "UPDATE messor.lanes SET preflight = false WHERE host_id = $1"


@dataclass(frozen=True, slots=True)
class PreflightResult:
    """The result of a pre-flight for its visit: what the flush logs, and friction signals."""

    result: PageResult
    requests: int
    signals: tuple[str, ...]  # of friction


@dataclass(slots=True)
class _PreflightState:
    """What a pre-flight has found so far."""

    lane: Lane
    url: Url
    responses: list[Fetched] = field(default_factory=list)
    robots: RobotsFile | None = None
    https_error: str | None = None  # why http is used

    @property
    def requests(self) -> int:
        """Number of requests made; a failed connection does not count."""
        return len(self.responses) - (self.https_error is not None)

    def allows(self, agent: str, url: str) -> bool:
        robots = self.robots
        if robots is None or robots.verdict == "deny_all":
            return False
        return robots.rules is None or robots.rules.check(agent, url).allowed


class PreflightReader:
    """Runs pre-flights for one worker."""

    def __init__(self, fetcher: TermsFetcher, database: Database, *, agent: str) -> None:
        self._fetcher = fetcher
        self._database = database
        self._agent = agent

    async def run(self, lane: Lane, task: Task) -> PreflightResult:
        """Run a pre-flight task and store its report."""
        url = parse(task.url)
        assert url is not None, "tasks hold web addresses"
        state = _PreflightState(lane, url)
        report = await self._robots(state, PreflightReport(url.href, reachable=False, message=""))
        if state.allows(self._agent, url.href):
            report = await self._homepage(state, report)
        if report.reachable and report.leads_out is None:
            report = await self._sitemap(state, report)
        await self._store(lane, task, replace(report, message=sentence(report)), state.requests)
        last = state.responses[-1]
        result = PageResult(lane, task, ALLOWED, Schedule("completed", None, 0), last)
        result.hops = state.responses[:-1]
        for fetched in state.responses:
            fetched.let_go()
        return PreflightResult(result, state.requests, tuple(report.signals))

    async def _get(self, state: _PreflightState, href: str, cut_at: int) -> Fetched:
        assert state.requests < MOST_REQUESTS, "a pre-flight has three requests"
        permit = await state.lane.pace.permit()
        fetched = await self._fetcher.fetch(state.lane.policy, href, permit, cut_at=cut_at)
        state.responses.append(fetched)
        return fetched

    async def _robots(self, state: _PreflightState, report: PreflightReport) -> PreflightReport:
        fetched = await self._get(state, f"{state.url.origin}/robots.txt", MAX_BYTES)
        twin = http_twin(state.url.href)
        if twin is not None and is_unconnected(fetched) and not state.lane.spoke_https:
            state.https_error, state.url = fetched.error, twin
            report = replace(report, url=twin.href, https_error=fetched.error)
            fetched = await self._get(state, f"{twin.origin}/robots.txt", MAX_BYTES)
        status = None if fetched.outcome is Outcome.REFUSED_ADDRESS else fetched.status
        if status is not None and 300 <= status < 400:
            # Following it would use up the homepage's request; a crawl follows it.
            file = RobotsFile("allow_all", "robots.txt redirects", status, b"", None, None)
        else:
            file = RobotsFile.from_response(status, fetched.body, self._agent, fetched.error)
        state.robots = file
        state.lane.pace.slow_down_to(file.crawl_delay or 0.0)
        return replace(
            report,
            reachable=fetched.status is not None,
            status_code=fetched.status,
            robots=file.verdict,
            robots_reason=fetched.error or file.reason,
            robots_allows=None if status is None else state.allows(self._agent, state.url.href),
            crawl_delay=file.crawl_delay,
        )

    async def _homepage(self, state: _PreflightState, report: PreflightReport) -> PreflightReport:
        fetched = await self._get(state, state.url.href, MAX_PAGE)
        report = replace(report, reachable=fetched.status is not None, status_code=fetched.status)
        if fetched.outcome is Outcome.REDIRECTED:
            leads_to, leads_out = _leads(state.url, fetched.location)
            return replace(report, leads_to=leads_to, leads_out=leads_out)
        if fetched.status is None:
            return replace(report, robots_reason=fetched.error or report.robots_reason)
        text, reading = _read(fetched, state.url.href, self._agent)
        verdict = judge(
            status=fetched.status,
            headers=fetched.headers,
            html=text,
            reading=reading,
            size=fetched.size,
            url=state.url.href,
        )
        report = replace(
            report,
            login="login_wall" in verdict.gates,
            challenge=_challenge(verdict),
            signals=list(verdict.signals),
        )
        if reading is None:
            return report
        return replace(
            report,
            title=_shortened(reading.title),
            description=_shortened(reading.description),
            language=_shortened(reading.language),
        )

    async def _sitemap(self, state: _PreflightState, report: PreflightReport) -> PreflightReport:
        """Read the first sitemap that robots.txt names on this host, else /sitemap.xml."""
        rules = state.robots.rules if state.robots else None
        named = [parse(text, state.url.href) for text in (rules.sitemaps if rules else [])[:50]]
        here = [url for url in named if url is not None and url.authority == state.url.authority]
        href = here[0].href if here else f"{state.url.origin}/sitemap.xml"
        if not state.allows(self._agent, href):
            return report
        fetched = await self._get(state, href, MAX_PAGE)
        if fetched.outcome not in (Outcome.OK, Outcome.NOT_HTML):
            return report
        found = sitemaps.read(fetched.body, url=href, content_type=fetched.content_type)
        if found.kind not in ("urlset", "index") and not found.urls:
            return report
        return replace(
            report,
            sitemap=href,
            sitemap_urls=len(found.urls),
            sitemap_sitemaps=len(found.sitemaps),
        )

    async def _store(self, lane: Lane, task: Task, report: PreflightReport, requests: int) -> None:
        """Store the report in its own small transaction."""
        async with self._database.transaction() as connection:
            name = await connection.fetchval(NAME, lane.policy.domain_id)
            alike = await similar.similar_to(connection, name)
            found = await connection.fetchval(OF_TASK, task.page_id)
            if found is not None:
                report = replace(report, similar=alike)
                await preflights.finish(connection, found, report, requests)
                data = {"message": report.message, "requests": requests}
                fact = Event("domain.preflight", "worker", lane.policy.domain_id, data=data)
                await record(connection, [fact])
            await connection.execute(CLOSE_LANE, lane.host_id)


def sentence(report: PreflightReport) -> str:
    """Summarise the report: the strongest objection to the domain, else its size."""
    neither = f" over http or https ({report.https_error})" if report.https_error else ""
    objections = (
        (
            not report.reachable,
            f"{report.url} does not respond{neither} ({report.robots_reason}).",
        ),
        (
            report.robots == "deny_all",
            f"Its robots.txt cannot be read ({report.robots_reason}): nothing would be fetched.",
        ),
        (report.robots_allows is False, "Its robots.txt disallows the homepage."),
        (
            report.leads_out is not None,
            f"Its homepage redirects to another domain: {report.leads_out}.",
        ),
        (
            report.challenge is not None,
            f"It blocks or challenges crawlers ({report.challenge}).",
        ),
        (report.login, "It requires a login."),
        (
            report.leads_to is not None,
            f"It responds, and its homepage redirects to {report.leads_to}.",
        ),
    )
    objection = next((sentence for holds, sentence in objections if holds), None)
    over = " over http as https does not connect," if report.https_error else ""
    return objection or f"It answers {report.status_code}{over} and may be crawled{_size(report)}."


def _size(report: PreflightReport) -> str:
    if report.sitemap_sitemaps:
        return f"; its sitemap lists {report.sitemap_sitemaps} further sitemaps"
    if report.sitemap_urls is not None:
        return f"; its sitemap lists {counted(report.sitemap_urls, 'page')}"
    return "; it has no sitemap"


def _leads(url: Url, location: str | None) -> tuple[str | None, str | None]:
    """The target of a redirect, and its domain if that is another one."""
    target = parse(location, url.href) if location else None
    if target is None:
        return None, "nowhere"
    other = registrable_domain(host_of(target.authority))
    return target.href, None if other == registrable_domain(url.host) else other or target.host


def _challenge(verdict: GateVerdict) -> str | None:
    """Who blocks the content, unless it is a login."""
    block = verdict.block
    if block is None or "login_wall" in verdict.gates:
        return None
    kind = block.by if block.by in KINDS else f"{block.by}: {block.evidence}"
    return _shortened(kind)


def _read(fetched: Fetched, href: str, agent: str) -> tuple[str, PageReading | None]:
    if not fetched.body:
        return "", None
    text, _ = decode(fetched.body[:MAX_PAGE], fetched.content_type)
    try:
        return text, html.read_page(text, href, agent=agent)
    except TooComplexError:
        return text, None


def _shortened(text: str | None) -> str | None:
    """Untrusted text, shortened and cleaned."""
    return checked((text or "")[:MAX_TEXT], "text", MAX_TEXT)
