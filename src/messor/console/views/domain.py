"""One domain: status and history, pages, records, politeness, requests and settings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import charts, evidence, labels
from messor.console.addresses import domain_path
from messor.console.call import ConsoleRequest
from messor.console.charts import Bars, LineChart
from messor.console.listing import list_of
from messor.console.screens import get
from messor.fetch.queries import FETCHES
from messor.frontier import page_queries, sitemaps
from messor.frontier.page_queries import MOST_COUNTED, PAGES
from messor.governance import domain_vertical, purges
from messor.mail import outbox
from messor.ops import domain_figures
from messor.ops.domain_figures import DAYS, DayOutcomes, DayRisk
from messor.politeness import hosts
from messor.politeness.risk import BANDS, MAX_SCORE
from messor.records import queries as records
from messor.records.queries import RECORDS, RecordFilter
from messor.registry import domains, notes, review
from messor.registry.domains import Domain
from messor.registry.terms import CHOICES, RANGES

NEWEST = 20  # records shown
MAX_ROBOTS = 20_000  # characters of a robots.txt shown
MAX_SITEMAPS = 100
RISK_GUIDES = {band.above: band.level for band in reversed(BANDS) if band.above}


async def show(call: ConsoleRequest) -> Response:
    database, domain = call.context.database, await _domain(call)
    history = await review.history(database, domain, 50)
    noted = await notes.of_domain(database, domain, 50)
    # An approved domain cannot be purged, so its holdings are not counted.
    may_purge = call.may(Act.DATA_ERASE) and domain.status != "approved"
    kept = await purges.holdings(database, domain) if may_purge else None
    membership = await domain_vertical.membership(database, domain)
    verticals = {name: title for name, (title, _) in membership.items()}
    actors = {fact.actor for fact in history} | {one.author for one in noted}
    actors |= {domain.submitted_by, domain.reviewed_by or ""}
    return await _page(
        call,
        domain,
        "domain/overview.html",
        history=history,
        notes=noted,
        outcomes=await page_queries.outcomes(database, domain.domain),
        requests=_by_day(await domain_figures.outcomes(database, domain.id)),
        most_counted=MOST_COUNTED,
        risk_guides=", ".join(f"{name} {above:g}" for above, name in RISK_GUIDES.items()),
        risk=_risk(await domain_figures.risk(database, domain.id)),
        holdings=kept,
        names=await call.names(actors),
        year=datetime.now(UTC).year,
        verticals=verticals,
        mails=await outbox.of_domain(database, domain.id) if call.may(Act.DOMAINS_REVIEW) else [],
        belongs=[name for name, (_, belongs) in membership.items() if belongs],
    )


async def show_pages(call: ConsoleRequest) -> Response:
    """The pages as a searchable list or as folders."""
    database, domain = call.context.database, await _domain(call)
    if call.query("as") == "tree":
        within = call.query("in")
        folders = await page_queries.folders(database, domain.domain, within)
        return await _page(
            call,
            domain,
            "domain/tree.html",
            within=within,
            folders=folders,
            crumbs=_crumbs(within),
            most_counted=MOST_COUNTED,
        )
    counts = await page_queries.outcomes(database, domain.domain)
    listed = await list_of(
        call,
        PAGES,
        domain_path(domain.domain, "pages"),
        choices={"outcome": tuple(counts)},
        labels={"outcome": {name: f"{name} ({count:,})" for name, count in counts.items()}},
        domain=domain.domain,
    )
    return await _page(call, domain, "domain/pages.html", listed=listed, most_counted=MOST_COUNTED)


async def show_records(call: ConsoleRequest) -> Response:
    """Record counts by kind, and the newest records."""
    database, domain = call.context.database, await _domain(call)
    newest = await RECORDS.read(database, RecordFilter(domain=domain.domain), limit=NEWEST)
    return await _page(
        call,
        domain,
        "domain/records.html",
        kinds=await records.of_domain(database, domain.id),
        rows=newest.items,
        tone=evidence.tone,
    )


async def show_courtesy(call: ConsoleRequest) -> Response:
    """Pace, risk, robots.txt and sitemaps."""
    database, domain = call.context.database, await _domain(call)
    robots = await domain_figures.robots(database, domain.id)
    texts = {one.id: one.body.decode("utf-8", "replace") for one in robots}
    return await _page(
        call,
        domain,
        "domain/courtesy.html",
        hosts=await hosts.of_domain(database, domain.id, call.context.settings.default_delay, 20),
        robots=robots,
        texts={key: text[:MAX_ROBOTS] for key, text in texts.items()},
        cut={key for key, text in texts.items() if len(text) > MAX_ROBOTS},
        sitemaps=await sitemaps.of_domain(database, domain.id, MAX_SITEMAPS),
        token=call.context.settings.agent_token,
    )


async def show_fetches(call: ConsoleRequest) -> Response:
    domain = await _domain(call)
    path = domain_path(domain.domain, "fetches")
    listed = await list_of(call, FETCHES, path, domain=domain.domain)
    return await _page(call, domain, "domain/fetches.html", listed=listed)


async def show_settings(call: ConsoleRequest) -> Response:
    return await settings_page(call, await _domain(call))


async def settings_page(
    call: ConsoleRequest, domain: Domain, *, wrong: str | None = None, status: int = 200
) -> Response:
    """The settings form of a domain, with the error of the last attempt."""
    return await _page(
        call,
        domain,
        "domain/settings.html",
        status=status,
        wrong=wrong,
        choices=CHOICES,
        ranges=RANGES,
    )


async def _domain(call: ConsoleRequest) -> Domain:
    return await domains.get(call.context.database, call.part("name"))


async def _page(
    call: ConsoleRequest, domain: Domain, template: str, *, status: int = 200, **values: Any
) -> Response:
    base = domain_path(domain.domain)
    return await call.page(template, status=status, domain=domain, base=base, **values)


def _by_day(rows: Sequence[DayOutcomes]) -> Bars:
    days: dict[date, Counter[str]] = defaultdict(Counter)
    for row in rows:
        days[row.day][labels.meaning(row.outcome)] += row.fetches
    today = datetime.now(UTC).date()
    span = [today - timedelta(days=ago) for ago in reversed(range(DAYS))]
    total = sum(row.fetches for row in rows)
    blocked = sum(counts["blocked"] for counts in days.values())
    summary = f"{total:,} requests in {DAYS} days, {blocked:,} of them blocked"
    columns = [(f"{day:%d %b}", days[day]) for day in span]
    return charts.bars(columns, labels.TONES, summary)


def _risk(rows: Sequence[DayRisk]) -> LineChart:
    values = [row.risk for row in rows]
    now, peak = (values[-1], max(values)) if values else (0.0, 0.0)
    summary = f"risk {now:.0f} today ({labels.risk_level(now)}), maximum {peak:.0f} in {DAYS} days"
    return charts.line(values, summary, top=MAX_SCORE, guides=RISK_GUIDES, height=charts.HEIGHT)


def _crumbs(within: str) -> list[tuple[str, str]]:
    """Breadcrumbs: path and name of each parent folder."""
    parts = [part for part in within.split("/") if part]
    return [("/".join(parts[: place + 1]) + "/", part) for place, part in enumerate(parts)]


SCREENS = (
    get("/domains/{name}", Act.READ, show),
    get("/domains/{name}/pages", Act.READ, show_pages),
    get("/domains/{name}/records", Act.READ, show_records),
    get("/domains/{name}/courtesy", Act.READ, show_courtesy),
    get("/domains/{name}/fetches", Act.READ, show_fetches),
    get("/domains/{name}/settings", Act.READ, show_settings),
)
