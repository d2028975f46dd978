"""Pre-flight: a first look at a domain that nobody decided on yet, for whoever will.

It is a task of its own kind in the host's lane: robots.txt, the homepage if that allows it, one
sitemap. Three requests at most, each paced like any other; nothing of it is kept but the report.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

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
MAX_PAGE = 2_000_000  # bytes of a homepage or sitemap that are looked at
MAX_SHOWN = 500  # characters of a title or description

ALLOWED = Decision(
    Says.ALLOWED, "preflight", f"a first look before review: {MOST_REQUESTS} requests at most"
)

OF_TASK = "SELECT id FROM messor.preflights WHERE page_id = $1 AND finished_at IS NULL"
NAME = "SELECT domain FROM messor.domains WHERE id = $1"
CLOSE_LANE = "UPDATE messor.lanes SET preflight = false WHERE host_id = $1"


@dataclass(frozen=True, slots=True)
class PreflightResult:
    """A first look as its visit must know it: what the flush logs, and what was met."""

    harvest: PageResult
    requests: int
    signals: tuple[str, ...]  # of friction


@dataclass(slots=True)
class _Look:
    """What was seen so far."""

    lane: Lane
    url: Url
    answers: list[Fetched] = field(default_factory=list)
    robots: RobotsFile | None = None
    https_error: str | None = None  # why it is looked at over http

    @property
    def requests(self) -> int:
        """How many were made; a connection that never came about is none."""
        return len(self.answers) - (self.https_error is not None)

    def allows(self, agent: str, url: str) -> bool:
        robots = self.robots
        if robots is None or robots.verdict == "deny_all":
            return False
        return robots.rules is None or robots.rules.check(agent, url).allowed


class PreflightReader:
    """Takes first looks for one worker."""

    def __init__(self, fetcher: TermsFetcher, database: Database, *, agent: str) -> None:
        self._fetcher = fetcher
        self._database = database
        self._agent = agent

    async def look(self, lane: Lane, task: Task) -> PreflightResult:
        """Do a pre-flight task."""
        url = parse(task.url)
        assert url is not None, "tasks hold web addresses"
        look = _Look(lane, url)
        report = await self._robots(look, PreflightReport(url.href, reachable=False, said=""))
        if look.allows(self._agent, url.href):
            report = await self._homepage(look, report)
        if report.reachable and report.leads_out is None:
            report = await self._sitemap(look, report)
        await self._store(lane, task, replace(report, said=sentence(report)), look.requests)
        last = look.answers[-1]
        harvest = PageResult(
            lane, task, ALLOWED, Schedule("completed", None, 0), last.outcome, last
        )
        harvest.hops = look.answers[:-1]
        for fetched in look.answers:
            fetched.let_go()
        return PreflightResult(harvest, look.requests, tuple(report.signals))

    async def _get(self, look: _Look, href: str, cut_at: int) -> Fetched:
        assert look.requests < MOST_REQUESTS, "a pre-flight has three requests"
        permit = await look.lane.pace.permit()
        fetched = await self._fetcher.fetch(look.lane.policy, href, permit, cut_at=cut_at)
        look.answers.append(fetched)
        return fetched

    async def _robots(self, look: _Look, report: PreflightReport) -> PreflightReport:
        fetched = await self._get(look, f"{look.url.origin}/robots.txt", MAX_BYTES)
        twin = http_twin(look.url.href)
        if twin is not None and is_unconnected(fetched) and not look.lane.spoke_https:
            look.https_error, look.url = fetched.error, twin
            report = replace(report, url=twin.href, https_error=fetched.error)
            fetched = await self._get(look, f"{twin.origin}/robots.txt", MAX_BYTES)
        status = None if fetched.outcome is Outcome.REFUSED_ADDRESS else fetched.status
        if status is not None and 300 <= status < 400:
            # Following it would cost the request the homepage needs; a crawl follows it.
            file = RobotsFile("allow_all", "robots.txt redirects", status, b"", None, None)
        else:
            file = RobotsFile.from_answer(status, fetched.body, self._agent, fetched.error)
        look.robots = file
        look.lane.pace.slow_down_to(file.crawl_delay or 0.0)
        return replace(
            report,
            reachable=fetched.status is not None,
            status_code=fetched.status,
            robots=file.verdict,
            robots_reason=fetched.error or file.reason,
            robots_allows=None if status is None else look.allows(self._agent, look.url.href),
            crawl_delay=file.crawl_delay,
        )

    async def _homepage(self, look: _Look, report: PreflightReport) -> PreflightReport:
        fetched = await self._get(look, look.url.href, MAX_PAGE)
        report = replace(report, reachable=fetched.status is not None, status_code=fetched.status)
        if fetched.outcome is Outcome.REDIRECTED:
            leads_to, leads_out = _leads(look.url, fetched.location)
            return replace(report, leads_to=leads_to, leads_out=leads_out)
        if fetched.status is None:
            return replace(report, robots_reason=fetched.error or report.robots_reason)
        text, reading = _read(fetched, look.url.href, self._agent)
        verdict = judge(
            status=fetched.status,
            headers=fetched.headers,
            html=text,
            reading=reading,
            size=fetched.size,
            url=look.url.href,
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
            title=_shown(reading.title),
            description=_shown(reading.description),
            language=_shown(reading.language),
        )

    async def _sitemap(self, look: _Look, report: PreflightReport) -> PreflightReport:
        """The first sitemap that robots.txt names on this host, else the usual place."""
        rules = look.robots.rules if look.robots else None
        named = [parse(text, look.url.href) for text in (rules.sitemaps if rules else [])[:50]]
        here = [url for url in named if url is not None and url.authority == look.url.authority]
        href = here[0].href if here else f"{look.url.origin}/sitemap.xml"
        if not look.allows(self._agent, href):
            return report
        fetched = await self._get(look, href, MAX_PAGE)
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
        """The report reaches the reviewer in a transaction of its own, small as it is."""
        async with self._database.transaction() as connection:
            name = await connection.fetchval(NAME, lane.policy.domain_id)
            alike = await similar.similar_to(connection, name)
            found = await connection.fetchval(OF_TASK, task.page_id)
            if found is not None:
                report = replace(report, similar=alike)
                await preflights.finish(connection, found, report, requests)
                data = {"said": report.said, "requests": requests}
                fact = Event("domain.preflight", "worker", lane.policy.domain_id, data=data)
                await record(connection, [fact])
            await connection.execute(CLOSE_LANE, lane.host_id)


def sentence(report: PreflightReport) -> str:
    """The report in one sentence: what speaks most against the domain, else how large it is."""
    neither = f" over http nor over https ({report.https_error})" if report.https_error else ""
    objections = (
        (
            not report.reachable,
            f"{report.url} does not answer{neither} ({report.robots_reason}).",
        ),
        (
            report.robots == "deny_all",
            f"Its robots.txt cannot be read ({report.robots_reason}): nothing would be fetched.",
        ),
        (report.robots_allows is False, "Its robots.txt does not let us have the homepage."),
        (
            report.leads_out is not None,
            f"Its homepage leads to another domain: {report.leads_out}.",
        ),
        (
            report.challenge is not None,
            f"It checks or refuses visitors like us ({report.challenge}).",
        ),
        (report.login, "It asks visitors to log in."),
        (
            report.leads_to is not None,
            f"It answers, and its homepage leads to {report.leads_to}.",
        ),
    )
    said = next((sentence for holds, sentence in objections if holds), None)
    over = ", over http as https cannot be connected," if report.https_error else ""
    return said or f"It answers {report.status_code}{over} and may be crawled{_size(report)}."


def _size(report: PreflightReport) -> str:
    if report.sitemap_sitemaps:
        return f"; its sitemap names {report.sitemap_sitemaps} others"
    if report.sitemap_urls is not None:
        return f"; its sitemap lists {report.sitemap_urls} pages"
    return "; it has no sitemap"


def _leads(url: Url, location: str | None) -> tuple[str | None, str | None]:
    """Where a redirect leads, and to which domain when that is another."""
    target = parse(location, url.href) if location else None
    if target is None:
        return None, "nowhere"
    other = registrable_domain(host_of(target.authority))
    return target.href, None if other == registrable_domain(url.host) else other or target.host


def _challenge(verdict: GateVerdict) -> str | None:
    """Who stands before the content, when it is not a login."""
    block = verdict.block
    if block is None or "login_wall" in verdict.gates:
        return None
    kind = block.by if block.by in KINDS else f"{block.by}: {block.evidence}"
    return _shown(kind)


def _read(fetched: Fetched, href: str, agent: str) -> tuple[str, PageReading | None]:
    if not fetched.body:
        return "", None
    text, _ = decode(fetched.body[:MAX_PAGE], fetched.content_type)
    try:
        return text, html.read_page(text, href, agent=agent)
    except TooComplexError:
        return text, None


def _shown(text: str | None) -> str | None:
    """Short and harmless, whatever a page put there."""
    return checked((text or "")[:MAX_SHOWN], "text", MAX_SHOWN)
