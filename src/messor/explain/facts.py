"""Facts: single links of the chain that explains a URL, each from one row or one rule.

Queries and the order of the chain are in `explain.why`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from messor.core.plurals import counted
from messor.fetch.proxies.registry import ProxyCounts
from messor.frontier import cadence
from messor.frontier.cadence import CrawlFrequency
from messor.frontier.tasks import seconds_of
from messor.frontier.traps import PATTERN_BUDGET
from messor.governance.prices import Approval
from messor.politeness import limits
from messor.politeness.hosts import Host
from messor.politeness.risk import delay_of
from messor.web.urls import Url

SOON_SECONDS = 5.0  # a wait too short to mention beyond the usual delay


@dataclass(frozen=True, slots=True)
class Fact:
    """One link of the chain."""

    step: str
    says: str  # yes, no, later or fact
    sentence: str


def shown(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def domain_facts(row: Any) -> list[Fact]:
    """Whether a domain may be visited, and on which terms."""
    name = row["domain"]
    who = f"submitted by {row['submitted_by']} on {row['created_at']:%Y-%m-%d}"
    if row["status"] != "approved":
        reason = f": {row['rejection_reason']}" if row["rejection_reason"] else ""
        return [Fact("registry", "no", f"{name} is {row['status']}{reason} ({who})")]
    if not row["active"]:
        return [Fact("registry", "no", f"{name} is approved but not active ({who})")]
    approved = f"{name} is approved by {row['reviewed_by']} ({who})"
    budget = f"{row['pages_known']} of {row['page_budget']} pages are known, depth {row['max_crawl_depth']}"
    facts = [Fact("registry", "yes", approved), Fact("budget", "fact", budget)]
    terms = [sentence for name, value, sentence in UNUSUAL if row[name] == value]
    facts += [Fact("terms", "fact", "; ".join(terms))] if terms else []
    return facts + limit_facts(row)


def limit_facts(row: Any) -> list[Fact]:
    """The domain's own crawl hours and megabytes per day, and whether they hold it up now."""
    hours, zone, most = row["crawl_hours"], row["time_zone"], row["megabytes_per_day"]
    if (until := row["closed_until"]) is not None:
        who = f"{row['domain']} is"
        why = limits.sentence(who, hours, zone, until, is_spent=row["is_spent"])
        return [Fact("limits", "later", why)]
    known = [f"crawled during {hours} h ({zone})"] if hours is not None else []
    known += [f"at most {most:,} MB per day"] if most is not None else []
    return [Fact("limits", "fact", "; ".join(known))] if known else []


# Terms that differ from the defaults, and their effects.
UNUSUAL = (
    ("harvest", "asked", "only requested pages are fetched"),
    ("on_block", "failover", "another provider is used where HTTP is refused"),
    ("render", "never", "only HTTP is used: no browser, no service"),
    ("directives", "ignore", "noindex and nofollow are ignored"),
    ("reservations", "respect", "pages that reserve their rights are not stored"),
    ("robots_forbidden", "deny", "401 or 403 for robots.txt counts as disallow"),
    ("proxies", "pool", "requests go through proxies"),
    ("verify_tls", False, "certificates are not checked"),
)


def proxy_fact(standing: ProxyCounts) -> Fact:
    """The proxies of a domain's requests, and those that do not work."""
    if not standing.active:
        sentence = (
            "no proxy is active, and this domain is never contacted directly: messor proxies list"
        )
        return Fact("proxies", "later", "; ".join([sentence, *standing.troubles]))
    sentence = f"{standing.active} of {standing.known} proxies are active, {standing.failing} failed at their last use"
    return Fact("proxies", "fact", "; ".join([sentence, *standing.troubles]))


def host_facts(host: Host) -> list[Fact]:
    """How a host is treated: risk, pace, cooldowns, and current visit."""
    facts = [risk_fact(host)]
    every = (
        f"{host.host} gets at most one request every {host.delay.seconds:g} s: {host.delay.reason}"
    )
    facts.append(Fact("pace", "fact", every))
    if host.silent_until is not None:
        silent = f"not contacted until {shown(host.silent_until)}: {host.silent_reason}"
        facts.append(Fact("pace", "later", silent))
    elif host.waits_seconds > host.delay.seconds + SOON_SECONDS and not host.held:
        waits = (
            f"its lane is not ready before {shown(host.ready_at)}, in {host.waits_seconds:,.0f} s"
        )
        facts.append(Fact("pace", "later", waits))
    if host.slow:
        facts.append(Fact("pace", "fact", f"it is slow: {host.latency or 0:.1f} s to respond"))
    if host.caged:
        facts.append(
            Fact(
                "cage",
                "fact",
                "a page of its domain crashed its reader: all are read in the sandbox",
            )
        )
    if host.held:
        facts.append(Fact("pace", "fact", "a worker is visiting it now"))
    return facts


def scheme_fact(host: Host, twin: Url) -> Fact:
    """Which URL is fetched where https does not connect."""
    why = f"https does not connect ({host.https_error})"
    return Fact("scheme", "fact", f"{why}: http is used, the rest is about {twin.href}")


def risk_fact(host: Host) -> Fact:
    """The current risk score and its effect."""
    score = f"risk {host.risk:.0f} ({host.risk_level})"
    if host.critical_until is not None:
        whose = "" if host.critical_host == host.host else f" because of {host.critical_host}"
        if host.assisted:
            return Fact("risk", "fact", f"{score}: visited nevertheless, a person requested pages")
        return Fact(
            "risk", "later", f"{score}: not contacted until {shown(host.critical_until)}{whose}"
        )
    pause = delay_of(host.risk)
    means = f"at least {pause:g} s between requests" if pause else "no extra pause"
    return Fact("risk", "fact", f"{score}: {means}")


def page_fact(page: Any) -> Fact:
    """How a page was found, and its category."""
    where = f" on {page['found_on']}" if page["found_on"] else ""
    sentence = f"found by {page['found_by']}{where}"
    if page["depth"] is not None:
        sentence += f" at depth {page['depth']}"
    if page["category"]:
        sentence += f", category {page['category']}"
    if page["sitemap_lastmod"]:
        sentence += f", last changed {shown(page['sitemap_lastmod'])} by its sitemap"
    return Fact("page", "fact", sentence)


def fetch_fact(row: Any) -> Fact:
    """One attempt: provider, result, failed gate, and the rule that allowed it."""
    status = f" {row['status_code']}" if row["status_code"] else ""
    target = f" to {row['final_url']}" if row["final_url"] else ""
    error = f" ({row['error']})" if row["error"] else ""
    by = "" if row["fetch_provider"] == "http" else f" by {row['fetch_provider']}"
    via = f" through proxy {row['proxy_id']}" if row["proxy_id"] else ""
    gate = f", gate {row['quality_gate_failed']} failed" if row["quality_gate_failed"] else ""
    allowed = f"allowed by rule {row['rule']!r}, policy {row['policy_version']}"
    what = f"{row['outcome']}{status}{target}{by}{via}{error}{gate}, {row['duration_ms']} ms"
    return Fact("fetch", "fact", f"{shown(row['fetched_at'])}: {what}; {allowed}")


def friction_fact(rows: Sequence[Any]) -> Fact:
    """What a page added to its host's risk, newest first."""
    signals = ", ".join(
        f"{row['signal']} (+{row['points']:g}) at {shown(row['occurred_at'])}" for row in rows
    )
    return Fact("friction", "fact", f"met on this page: {signals}")


def family_fact(family: str, pages: int, *, is_known: bool) -> Fact:
    """A URL of a pattern that could grow without end."""
    full = pages >= PATTERN_BUDGET
    sentence = f"of the URL pattern {family!r}, which has {pages} of {PATTERN_BUDGET} pages"
    return Fact("trap", "no" if full and not is_known else "fact", sentence)


def schedule_fact(page: Any, harvest: str) -> Fact:
    """When a page is due."""
    if page["status"] == "paused":
        until = page["held_due_at"]
        then = f", due {shown(until)} once it is resumed" if until else ""
        return Fact("schedule", "later", f"paused by a person{then}: messor tasks resume")
    if page["status"] == "cancelled":
        return Fact("schedule", "no", "cancelled by a person: messor tasks retry")
    if page["due_at"] is not None:
        due = f"{page['status']}, next due {shown(page['due_at'])}"
        if page["waits"]:
            due += (
                f": it needs a rendering provider, and none was available "
                f"{counted(page['waits'], 'time')} in a row; tried less and less often, see messor doctor"
            )
        if page["next_provider"]:
            due += (
                f": HTTP was not enough, and a pause came first; {page['next_provider']} is tried "
                "after it, in place of HTTP"
            )
        return Fact("schedule", "fact", due)
    if harvest == "asked":
        return Fact("schedule", "later", "not due: this page was not requested")
    return Fact("schedule", "later", f"{page['status']}, not due")


def cadence_fact(page: Any, domain: Any) -> Fact:
    """How often a page is fetched, and why."""
    own, hours = page["crawl_frequency"], domain["scrape_frequency_hours"]
    frequency = CrawlFrequency(
        seconds_of(own),
        domain["track_level"],
        hours * 3600.0 if hours else None,
        page["history"],
        seconds_of(domain["track_interval"]),
    )
    return Fact("cadence", "fact", cadence.explain(frequency))


def paid_fact(repeats: int, *, is_exact: bool) -> Fact:
    """What paid calls that brought nothing new do to the interval."""
    message = f"{counted(repeats, 'paid call')} in a row found it unchanged"
    effect = (
        "its own frequency is kept"
        if is_exact
        else f"its interval is {cadence.paid_factor(repeats):g} times as long"
    )
    return Fact("cadence", "fact", f"{message}: {effect}")


def price_fact(approval: Approval | None) -> Fact:
    """What is paid for a page that has a price."""
    if approval is None:
        return Fact("price", "fact", "the site asks a price, and paying it is not approved")
    caps = f"{approval.currency} {approval.per_page:f} a page, {approval.per_month:f} a month"
    return Fact("price", "fact", f"the site asks a price; approved: {caps} ({approval.reason})")
