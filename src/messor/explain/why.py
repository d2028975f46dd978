"""Why: the chain of facts behind what happened, or would happen, to a URL.

Rules are evaluated as of now; past events are listed beside them and decide nothing.
`explain.facts` words each fact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from messor.core import clock
from messor.core.plurals import counted
from messor.errors import UsageError
from messor.explain import facts as say
from messor.explain.facts import Fact
from messor.fetch.outcome import Outcome
from messor.fetch.proxies import registry
from messor.frontier.depth import KNOWN_DEPTH_SQL
from messor.frontier.traps import pattern_key, trap_of
from messor.governance import prices
from messor.ledger import alarms
from messor.politeness import hosts, limits, traffic
from messor.politeness.hosts import Host
from messor.politeness.robots import RobotsCache
from messor.settings import Settings
from messor.store.database import Database
from messor.web.suffixes import registrable_domain
from messor.web.urls import Url, http_twin, parse, url_hash

DOMAIN = f"""
SELECT id, domain, status, active, reviewed_by, reviewed_at, rejection_reason, max_crawl_depth,
       page_budget, pages_known, submitted_by, created_at, harvest, on_block, render, directives,
       reservations, robots_forbidden, proxies, verify_tls, track_level, track_interval, scrape_frequency_hours,
       crawl_hours, time_zone, megabytes_per_day,
       messor.closed_until(id, crawl_hours, time_zone, messor.clock()) AS closed_until,
       EXISTS (SELECT FROM messor.traffic_spent s
                WHERE s.scope = domains.id AND s.until > messor.clock()) AS is_spent,
       ({alarms.NEWEST.format(name=alarms.CLOCK)}) AS clock_said,
       EXISTS (SELECT FROM messor.traffic_limits) AS has_limits,
       ({alarms.NEWEST.format(name=alarms.DISK)}) AS disk_said
  FROM messor.domains WHERE domain = $1
"""

# `paid_repeats`: paid calls in a row that found the page unchanged; `crawl.paid_calls` counts alike.
PAGE = f"""
SELECT p.id, p.found_by, o.url AS found_on, {KNOWN_DEPTH_SQL} AS depth, p.found_at, p.category, p.sitemap_lastmod,
       t.kind, t.status, t.outcome, t.due_at, t.retry_count, t.refusal, t.error_message,
       t.last_fetched_at, t.last_status, t.snapshot_id, t.deaths, t.crawl_frequency, t.history,
       t.waits, t.next_provider, t.held_due_at, s.provider AS brought_by, s.crawled_at,
       (SELECT count(*) FROM messor.http_fetches f
         WHERE f.page_id = p.id AND f.outcome = 'unchanged' AND f.provider_cost > 0
           AND f.fetched_at > coalesce((SELECT max(o.fetched_at) FROM messor.http_fetches o
                                         WHERE o.page_id = p.id AND o.outcome = 'ok'), '-infinity')
       ) AS paid_repeats
  FROM messor.pages p LEFT JOIN messor.crawl_tasks t ON t.page_id = p.id
  LEFT JOIN messor.page_snapshots s ON s.id = t.snapshot_id
  LEFT JOIN messor.pages o ON o.id = p.found_on
 WHERE p.host_id = $1 AND p.url_hash = $2
"""

FETCHES = """
SELECT fetched_at, outcome, status_code, duration_ms, rule, policy_version, robots_id, final_url,
       fetch_provider, quality_gate_failed, proxy_id, error_json ->> 'message' AS error
  FROM messor.http_fetches WHERE page_id = $1 ORDER BY fetched_at DESC, id DESC LIMIT 8
"""

FRICTION = """
SELECT occurred_at, signal, points FROM messor.friction_log
 WHERE host_id = $1 AND page_id = $2 ORDER BY occurred_at DESC LIMIT 5
"""

REFUSED = "SELECT rule, links FROM messor.refused_links WHERE host_id = $1 ORDER BY links DESC"

FAMILY = "SELECT pages FROM messor.url_patterns WHERE host_id = $1 AND pattern = $2"


@dataclass(frozen=True, slots=True)
class Explanation:
    """The chain and its conclusion."""

    url: str
    verdict: str
    facts: list[Fact]


async def explain(database: Database, settings: Settings, text: str) -> Explanation:
    """Explain a URL: what is known, what was done, what would be done now."""
    url = parse(text if "://" in text else f"https://{text}")
    name = registrable_domain(url.host) if url else None
    if url is None or name is None:
        raise UsageError(f"{text[:200]!r} is not a URL of a registrable domain.")
    domain = await database.fetchrow(DOMAIN, name)
    if domain is None:
        unknown = f"{name} was never submitted: messor domains submit {name}"
        return Explanation(url.href, "denied", [Fact("registry", "no", unknown)])
    halt = await traffic.in_force(database)
    facts = [Fact("traffic", "later", halt.message)] if halt else []
    limited = await limits.find(database) if domain["has_limits"] else None
    if limited is not None and limited.message is not None:
        facts.append(Fact("limits", "later", limited.message))
    if domain["clock_said"] is not None:
        facts.append(Fact("clock", "fact", domain["clock_said"]))
    if domain["disk_said"] is not None:
        facts.append(Fact("disk", "later", domain["disk_said"]))
    facts += say.domain_facts(domain)
    if domain["proxies"] == "pool":
        facts.append(say.proxy_fact(await registry.standing(database)))
    host = await hosts.find(database, url.authority, settings.default_delay)
    if host is not None:
        facts += say.host_facts(host)
        if (twin := _twin(host, url)) is not None:
            facts.append(say.scheme_fact(host, twin))
            facts += await _robots_facts(database, settings, host, twin)
            facts += await _page_facts(database, domain, host, twin)
            return Explanation(url.href, _verdict(facts), facts)
        facts += await _robots_facts(database, settings, host, url)
        facts += await _page_facts(database, domain, host, url)
    elif all(fact.says != "no" for fact in facts):
        facts.append(Fact("host", "later", f"{url.authority} is not known yet"))
    return Explanation(url.href, _verdict(facts), facts)


def _twin(host: Host, url: Url) -> Url | None:
    """The http URL fetched in place of an https one, where only http responds."""
    if host.https_error is None or host.robots_for("http") is None:
        return None
    return http_twin(url.href)


def _verdict(facts: list[Fact]) -> str:
    for says, verdict in (("no", "denied"), ("later", "deferred")):
        if any(fact.says == says for fact in facts):
            return verdict
    return "allowed"


async def _robots_facts(database: Database, settings: Settings, host: Host, url: Url) -> list[Fact]:
    if host.robots_awaited:
        return [Fact("robots", "later", f"robots.txt is being read at {host.robots_awaited}")]
    robots_id = host.robots_for(url.scheme)
    if robots_id is None:
        return [Fact("robots", "later", f"robots.txt was not read over {url.scheme} yet")]
    robots_cache = RobotsCache(database, settings.agent_token)
    robots = (await robots_cache.get({robots_id}))[robots_id]
    read_at = f" from {host.robots_at}" if host.robots_at and robots_id == host.robots_id else ""
    version = f"version {robots_id} of robots.txt{read_at}"
    objection = robots.objection(settings.agent_token, url.href)
    if objection is None:
        decision = robots.check(settings.agent_token, url.href)
        reason = decision.reason if decision else robots.file.reason
        return [Fact("robots", "yes", f"{reason} ({version})")]
    says = "no" if objection.verdict == "denied" else "later"
    return [Fact("robots", says, f"{objection.reason} ({version})")]


async def _page_facts(database: Database, domain: Any, host: Host, url: Url) -> list[Fact]:
    page = await database.fetchrow(PAGE, host.id, url_hash(url))
    facts = await _trap_facts(database, host, url, page)
    if page is None:
        return facts + await _unknown_facts(database, domain, host)
    facts += _depth_facts(page, domain)
    facts.append(say.page_fact(page))
    if page["outcome"] == Outcome.PRICED:
        facts.append(say.price_fact(await prices.in_force(database, domain["id"])))
    fetches = await database.fetch(FETCHES, page["id"])
    facts += [say.fetch_fact(row) for row in reversed(fetches)]
    friction = await database.fetch(FRICTION, host.id, page["id"])
    if friction:
        facts.append(say.friction_fact(friction))
    facts += _state_facts(page)
    if page["kind"] is not None:
        facts.append(say.schedule_fact(page, domain["harvest"]))
    if page["kind"] == "page":
        facts.append(say.cadence_fact(page, domain))
        if repeats := page["paid_repeats"]:
            facts.append(say.paid_fact(repeats, is_exact=page["crawl_frequency"] is not None))
    return facts


def _depth_facts(page: Any, domain: Any) -> list[Fact]:
    limit = domain["max_crawl_depth"]
    if page["kind"] != "page" or (page["depth"] is not None and page["depth"] <= limit):
        return []
    deep = "no way from the homepage to it is known"
    if page["depth"] is not None:
        deep = f"depth {page['depth']} is over the domain's {limit}"
    if page["found_by"] != "manual":
        return [Fact("depth", "no", deep)]
    return [Fact("depth", "fact", f"{deep}: crawled because it was requested; its links are not")]


def _state_facts(page: Any) -> list[Fact]:
    """The state of the page, beyond single fetches."""
    facts = []
    if page["deaths"]:
        facts.append(
            Fact(
                "cage",
                "fact",
                f"it crashed its reader {counted(page['deaths'], 'time')}: read in the sandbox",
            )
        )
    if page["refusal"]:
        facts.append(Fact("decision", "fact", f"last refused: {page['refusal']}"))
    elif page["outcome"] == "robots" and page["kind"] == "page":
        facts.append(Fact("keep", "fact", f"fetched but not stored: {page['error_message']}"))
    if page["snapshot_id"]:
        kept = (
            f"newest good content is from {say.shown(page['crawled_at'])}, by {page['brought_by']}"
        )
        facts.append(Fact("keep", "fact", kept))
    return facts


async def _trap_facts(database: Database, host: Host, url: Url, page: Any) -> list[Fact]:
    if page is not None and (
        page["kind"] != "page" or page["depth"] == 0 or page["found_by"] == "manual"
    ):
        return []  # a requested page is not a trap
    trap = trap_of(url.href, clock.this_year())
    if trap is not None:
        return [Fact("trap", "no", trap)]
    family = pattern_key(url.href)
    if family is None:
        return []
    pages = await database.fetchval(FAMILY, host.id, family) or 0
    return [say.family_fact(family, pages, is_known=page is not None)]


async def _unknown_facts(database: Database, domain: Any, host: Host) -> list[Fact]:
    rows = await database.fetch(REFUSED, host.id)
    counts = ", ".join(f"{row['links']} by {row['rule']}" for row in rows)
    refused = f"; links refused on its host: {counts}" if counts else ""
    facts = [Fact("page", "fact", f"this URL is not known{refused}")]
    if domain["pages_known"] >= domain["page_budget"]:
        spent = f"all {domain['page_budget']} pages of the domain's budget are known"
        facts.append(Fact("budget", "no", spent))
    elif domain["harvest"] == "asked":
        condition = "it would be fetched only on request"
        facts.append(Fact("terms", "later", condition))
    return facts
