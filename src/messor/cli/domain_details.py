"""Details of a domain for `messor domains show`: review, terms, hosts, sitemaps, runs, pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from messor.cli.actors import Names, names_in, with_names
from messor.cli.output import emit, print_table
from messor.crawl import progress
from messor.frontier import runs, sitemaps
from messor.frontier.runs import CrawlRun
from messor.politeness import hosts
from messor.politeness.hosts import Host
from messor.registry.domains import Domain
from messor.store.database import Database

MAX_SITEMAPS = 200
TERMS = (
    ("delay", "crawl_delay_seconds"),
    ("depth", "max_crawl_depth"),
    ("page-budget", "page_budget"),
    ("max-concurrent-requests", "max_concurrent_requests"),
    ("every", "scrape_frequency_hours"),
    ("on-block", "on_block"),
    ("render", "render"),
    ("harvest", "harvest"),
    ("directives", "directives"),
    ("reservations", "reservations"),
    ("robots-forbidden", "robots_forbidden"),
    ("proxies", "proxies"),
    ("verify-tls", "verify_tls"),
    ("priority", "priority"),
    ("hours", "crawl_hours"),
    ("time-zone", "time_zone"),
    ("megabytes-per-day", "megabytes_per_day"),
)
UNITS = {"delay": " s", "every": " h"}
HOSTS = ("host", "delay", "delay reason", "risk", "latency", "robots", "last request", "notes")


@dataclass(frozen=True, slots=True)
class DomainDetails:
    """Everything `messor domains show` prints."""

    domain: Domain
    hosts: list[Host]
    sitemaps: list[dict[str, Any]]
    runs: list[CrawlRun]
    outcomes: dict[str, int]
    pages: dict[str, dict[str, int]]
    names: Names  # of those who submitted and reviewed it


async def of(database: Database, domain: Domain, default_delay: float) -> DomainDetails:
    return DomainDetails(
        domain,
        await hosts.of_domain(database, domain.id, default_delay),
        [_decoded(row) for row in await sitemaps.of_domain(database, domain.id, MAX_SITEMAPS)],
        await runs.recent(database, domain.id),
        await progress.outcomes(database, [domain.id]),
        await progress.summary(database, [domain.id]),
        await names_in(database, (domain.submitted_by, domain.reviewed_by)),
    )


def _decoded(sitemap: dict[str, Any]) -> dict[str, Any]:
    """Decode the JSON columns."""
    for name in ("error_json", "warnings"):
        if sitemap[name] is not None:
            sitemap[name] = msgspec.json.decode(sitemap[name])
    return sitemap


def as_data(details: DomainDetails) -> dict[str, Any]:
    """Return the domain's own fields plus its hosts, sitemaps, runs and pages."""
    return {
        **asdict(details.domain),
        "hosts": [asdict(host) for host in details.hosts],
        "sitemaps": details.sitemaps,
        "runs": [asdict(run) for run in details.runs],
        "pages": details.outcomes,
    }


def terms(domain: Domain) -> list[tuple[str, str]]:
    """Return the terms by the names of the options of `messor domains configure`."""
    return [(name, _term(name, getattr(domain, field))) for name, field in TERMS]


def _term(name: str, value: Any) -> str:
    if value is None:
        return "any" if name in ("hours", "megabytes-per-day") else "default"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}{UNITS[name]}" if name in UNITS else str(value)


def show(details: DomainDetails) -> None:
    domain = details.domain
    emit(f"{domain.domain}: {domain.status}, policy {domain.policy_version}")
    for line in _review_lines(domain):
        emit(f"  {with_names(line, details.names)}")
    emit("\nTerms")
    emit("  " + ", ".join(f"{name} {value}" for name, value in terms(domain)))
    _show_hosts(details.hosts)
    _show_sitemaps(details.sitemaps)
    _show_runs(details.runs)
    if details.pages:
        emit(f"\nPages ({domain.pages_known} of {domain.page_budget} known)")
        for meaning, counts in details.pages.items():
            detail = ", ".join(f"{count} {name}" for name, count in counts.items())
            emit(f"  {meaning:10} {sum(counts.values()):>6}  {detail}")


def _review_lines(domain: Domain) -> Iterator[str]:
    by = f"by {domain.submitted_by} ({domain.submitter_type})"
    yield f"submitted {by} on {domain.created_at:%Y-%m-%d}: {domain.submission_context or '-'}"
    if domain.reviewed_at is not None:
        reason = f": {domain.rejection_reason}" if domain.rejection_reason else ""
        yield f"reviewed by {domain.reviewed_by} on {domain.reviewed_at:%Y-%m-%d}{reason}"
    yield f"starts at {domain.base_url}"
    if domain.last_scraped_at is not None:
        yield f"last request {domain.last_scraped_at:%Y-%m-%d %H:%M:%S}"


def _show_hosts(found: list[Host]) -> None:
    if not found:
        return
    emit("\nHosts")
    print_table(HOSTS, [_row(host) for host in found])
    for host in found:
        for sign in host.friction:
            where = f" on {sign['url']}" if sign["url"] else ""
            emit(
                f"  friction at {sign['occurred_at']:%Y-%m-%d %H:%M:%S}: {sign['signal']}"
                f" (+{sign['points']:g}, risk {sign['score']:.0f}){where}"
            )


def _row(host: Host) -> tuple[object, ...]:
    return (
        host.host,
        f"{host.delay.seconds:g} s",
        host.delay.reason,
        f"{host.risk:.0f} {host.risk_level}",
        None if host.latency is None else f"{host.latency:.2f} s",
        _robots(host),
        host.last_request_at,
        "; ".join(_notes(host)) or None,
    )


def _robots(host: Host) -> str | None:
    if host.robots_awaited:
        return f"being fetched from {host.robots_awaited}"
    if host.robots_id is None:
        return None
    where = f" from {host.robots_at}" if host.robots_at else ""
    verdict = host.robots if host.robots == "rules" else f"{host.robots}: {host.robots_reason}"
    return f"{verdict}{where} (version {host.robots_id})"


def _notes(host: Host) -> Iterator[str]:
    if host.is_main:
        yield "main host"
    if host.https_error is not None:
        yield f"crawled over http: the https connection failed ({host.https_error})"
    if host.is_left_alone:
        yield f"paused for critical risk until {host.critical_until:%Y-%m-%d %H:%M}"
    if host.silent_until is not None:
        yield f"cooling down until {host.silent_until:%Y-%m-%d %H:%M:%S}: {host.silent_reason}"
    if host.slow:
        yield "slow"
    if host.caged:
        yield "read in the sandbox"
    if host.held:
        yield "being visited"


def _show_sitemaps(found: list[dict[str, Any]]) -> None:
    if found:
        emit("\nSitemaps")
    for sitemap in _in_tree_order(found):
        emit(f"  {'  ' * sitemap['depth']}{sitemap['url']}  {_sitemap(sitemap)}")


def _show_runs(found: list[CrawlRun]) -> None:
    if found:
        emit("\nRuns")
    for run in found:
        limits = {"depth": run.max_depth, "max-pages": run.max_pages, "delay": run.delay}
        given = [f"{name} {value:g}" for name, value in limits.items() if value is not None]
        given += ["refetch"] if run.refetch else []
        text = ", ".join(given) or "no limits"
        emit(f"  {run.started_at:%Y-%m-%d %H:%M:%S}  {run.status:11}  {run.url}  {text}")


def _in_tree_order(found: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield each sitemap followed by its children."""
    known = {sitemap["url"] for sitemap in found}
    children: dict[str | None, list[dict[str, Any]]] = {}
    for sitemap in found:
        parent = sitemap["parent"] if sitemap["parent"] in known else None
        children.setdefault(parent, []).append(sitemap)
    waiting = list(reversed(children.get(None, [])))
    while waiting:
        sitemap = waiting.pop()
        yield sitemap
        waiting += reversed(children.pop(sitemap["url"], []))


def _sitemap(sitemap: dict[str, Any]) -> str:
    if sitemap["error_json"]:
        error = sitemap["error_json"]
        message = error.get("message") or error.get("status") or ""
        return f"{error['outcome']} {message}, {sitemap['attempts']} times".replace("  ", " ")
    if sitemap["read_at"] is None:
        return "not read yet"
    warnings = f", {len(sitemap['warnings'])} warnings" if sitemap["warnings"] else ""
    return f"{sitemap['kind']}: {sitemap['urls']} URLs, {sitemap['sitemaps']} sitemaps{warnings}"
