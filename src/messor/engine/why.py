"""Why: the chain of facts behind what happened, or would happen, to a URL.

Stored facts come first, then the rules are asked again as they stand now.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from messor.courtesy.robots import RobotsShelf
from messor.errors import UsageError
from messor.settings import Settings
from messor.store.database import Database
from messor.web.suffixes import registrable_domain
from messor.web.urls import Url, parse, url_hash

DOMAIN = """
SELECT id, domain, status, active, reviewed_by, reviewed_at, rejection_reason, max_crawl_depth,
       page_budget, pages_known, submitted_by, created_at
  FROM messor.domains WHERE domain = $1
"""

HOST = """
SELECT h.id, h.host, h.robots_id, h.robots_checked_at, h.cooldown_until, h.cooldown_reason,
       h.cooldown_until > messor.clock() AS silent, l.delay, l.ready_at,
       l.worker_id IS NOT NULL AS held
  FROM messor.hosts h JOIN messor.lanes l ON l.host_id = h.id WHERE h.host = $1
"""

PAGE = """
SELECT p.id, p.found_by, o.url AS found_on, p.depth, p.found_at, t.status, t.outcome, t.due_at,
       t.retry_count, t.refusal, t.error_message, t.last_fetched_at, t.last_status, t.snapshot_id
  FROM messor.pages p LEFT JOIN messor.crawl_tasks t ON t.page_id = p.id
  LEFT JOIN messor.pages o ON o.id = p.found_on
 WHERE p.host_id = $1 AND p.url_hash = $2
"""

FETCHES = """
SELECT fetched_at, outcome, status_code, duration_ms, rule, policy_version, robots_id, final_url,
       error_json ->> 'message' AS error
  FROM messor.http_fetches WHERE page_id = $1 ORDER BY fetched_at DESC LIMIT 5
"""

REFUSED = "SELECT rule, links FROM messor.refused_links WHERE host_id = $1 ORDER BY links DESC"


@dataclass(frozen=True, slots=True)
class Fact:
    """One link of the chain."""

    step: str
    says: str  # yes, no, later or fact
    sentence: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The chain, and where it ends."""

    url: str
    verdict: str
    facts: list[Fact]


async def explain(database: Database, settings: Settings, text: str) -> Explanation:
    """Explain a URL: what is known, what was done, what would be done now."""
    url = parse(text if "://" in text else f"https://{text}")
    domain = registrable_domain(url.host) if url else None
    if url is None or domain is None:
        raise UsageError(f"{text[:200]!r} is not a web address of a registrable domain.")
    facts = await _domain_facts(database, domain)
    host = await database.fetchrow(HOST, url.authority)
    if host is not None:
        facts += _host_facts(host)
        facts += await _robots_facts(database, settings, host["robots_id"], url)
        facts += await _page_facts(database, host["id"], url)
    elif all(fact.says != "no" for fact in facts):
        facts.append(Fact("host", "later", f"{url.authority} was not met yet"))
    return Explanation(url.href, _verdict(facts), facts)


def _verdict(facts: list[Fact]) -> str:
    for says, verdict in (("no", "denied"), ("later", "deferred")):
        if any(fact.says == says for fact in facts):
            return verdict
    return "allowed"


async def _domain_facts(database: Database, name: str) -> list[Fact]:
    row = await database.fetchrow(DOMAIN, name)
    if row is None:
        return [Fact("registry", "no", f"{name} was never submitted: messor domains submit {name}")]
    who = f"submitted by {row['submitted_by']} on {row['created_at']:%Y-%m-%d}"
    if row["status"] != "approved":
        reason = f": {row['rejection_reason']}" if row["rejection_reason"] else ""
        return [Fact("registry", "no", f"{name} is {row['status']}{reason} ({who})")]
    approved = f"{name} is approved by {row['reviewed_by']} ({who})"
    budget = f"{row['pages_known']} of {row['page_budget']} pages are known, depth {row['max_crawl_depth']}"
    return [Fact("registry", "yes", approved), Fact("budget", "fact", budget)]


def _host_facts(host: Any) -> list[Fact]:
    facts = [Fact("pace", "fact", f"{host['host']} is asked every {host['delay']:g} s at most")]
    if host["silent"]:
        until = f"{host['cooldown_until']:%Y-%m-%d %H:%M:%S}"
        facts.append(Fact("pace", "later", f"silent until {until}: {host['cooldown_reason']}"))
    if host["held"]:
        facts.append(Fact("pace", "fact", "a worker is visiting it now"))
    return facts


async def _robots_facts(
    database: Database, settings: Settings, robots_id: int | None, url: Url
) -> list[Fact]:
    if robots_id is None:
        return [Fact("robots", "later", "robots.txt was not read yet")]
    robots = (await RobotsShelf(database, settings.agent_token).get({robots_id}))[robots_id]
    objection = robots.objection(settings.agent_token, url.href)
    version = f"version {robots_id} of robots.txt"
    if objection is None:
        decision = robots.check(settings.agent_token, url.href)
        reason = decision.reason if decision else robots.file.reason
        return [Fact("robots", "yes", f"{reason} ({version})")]
    says = "no" if objection.verdict == "denied" else "later"
    return [Fact("robots", says, f"{objection.reason} ({version})")]


async def _page_facts(database: Database, host_id: int, url: Url) -> list[Fact]:
    page = await database.fetchrow(PAGE, host_id, url_hash(url))
    if page is None:
        counts = ", ".join(
            f"{row['links']} by {row['rule']}" for row in await database.fetch(REFUSED, host_id)
        )
        refused = f"; links refused on its host: {counts}" if counts else ""
        return [Fact("page", "fact", f"this URL is not known{refused}")]
    where = f" on {page['found_on']}" if page["found_on"] else ""
    found = f"found by {page['found_by']}{where} at depth {page['depth']}"
    facts = [Fact("page", "fact", found)]
    fetches = await database.fetch(FETCHES, page["id"])
    facts += [_fetch_fact(row) for row in reversed(fetches)]
    if page["refusal"]:
        facts.append(Fact("decision", "no", f"refused: {page['refusal']}"))
    if page["due_at"]:
        due = f"{page['status']}, next due {page['due_at']:%Y-%m-%d %H:%M:%S}"
        facts.append(Fact("schedule", "fact", due))
    return facts


def _fetch_fact(row: Any) -> Fact:
    status = f" {row['status_code']}" if row["status_code"] else ""
    target = f" to {row['final_url']}" if row["final_url"] else ""
    error = f" ({row['error']})" if row["error"] else ""
    when = f"{row['fetched_at']:%Y-%m-%d %H:%M:%S}"
    allowed = f"allowed by rule {row['rule']!r}, policy {row['policy_version']}"
    sentence = (
        f"{when}: {row['outcome']}{status}{target}{error}, {row['duration_ms']} ms; {allowed}"
    )
    return Fact("fetch", "fact", sentence)
