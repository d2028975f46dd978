"""The ordered rules of a fetch: registry, risk, robots, scope, depth, trap. The first "no" wins.

Budgets are enforced where pages are admitted, the cache where an ingestion is planned.
"""

from __future__ import annotations

from typing import NamedTuple

from messor.core import clock
from messor.crawl.preflight import ALLOWED as PREFLIGHT
from messor.crawl.preflight import KIND
from messor.frontier.tasks import Task
from messor.frontier.traps import is_plain, trap_of
from messor.governance.site_proofs import FILE
from messor.governance.site_proofs import KIND as PROOF
from messor.ledger.decisions import Decision, Verdict, decide, deferred, denied
from messor.politeness.lanes import Lane
from messor.web.suffixes import registrable_domain

ALLOWED = Decision(Verdict.ALLOWED, "approved", "the domain is approved and no rule denies it")


class DueTask(NamedTuple):
    """A task in its lane, to be decided."""

    lane: Lane
    task: Task
    agent: str
    closed: bool  # the domain was suspended or worse since the lane was claimed


def registry_rule(candidate: DueTask) -> Decision | None:
    if candidate.closed:
        return deferred("registry", f"{candidate.lane.policy.domain} may not be crawled at present")
    if not candidate.lane.approved and candidate.task.kind != KIND:
        return deferred("registry", f"{candidate.lane.policy.domain} is awaiting review")
    return None


def risk_rule(candidate: DueTask) -> Decision | None:
    lane = candidate.lane
    if lane.risk.is_critical and not lane.assisted:
        return deferred("risk", f"{lane.host} is not visited at risk {lane.risk.score:.0f}")
    return None


def robots_rule(candidate: DueTask) -> Decision | None:
    if candidate.task.kind == "robots":
        return None  # robots.txt itself is always allowed (RFC 9309 2.2.2)
    robots = candidate.lane.robots_for(candidate.task.url)
    if robots is None:
        return deferred("robots", "robots.txt has not been read yet")
    return robots.objection(candidate.agent, candidate.task.url)


def scope_rule(candidate: DueTask) -> Decision | None:
    if candidate.task.kind == "robots":
        return None  # another host's robots.txt may redirect here
    policy, name = candidate.lane.policy, candidate.lane.host.partition(":")[0]
    if registrable_domain(name) != policy.domain:
        return denied("scope", f"{name} is outside {policy.domain}")
    return None


def depth_rule(candidate: DueTask) -> Decision | None:
    limit = candidate.lane.policy.max_crawl_depth
    if candidate.task.turns or candidate.task.is_named:
        return None  # discovered by a run, which counts depth from its start URL, or requested
    if candidate.task.kind == "page" and candidate.task.depth > limit:
        return denied(
            "depth", f"depth {candidate.task.depth} exceeds the domain's limit of {limit}"
        )
    return None


def trap_rule(candidate: DueTask) -> Decision | None:
    task = candidate.task
    if task.kind != "page" or task.depth == 0 or task.is_named or is_plain(task.url):
        return None  # a URL requested by a person is never a trap
    trap = trap_of(task.url, clock.this_year())
    return denied("trap", trap) if trap else None


RULES = (registry_rule, risk_rule, robots_rule, scope_rule, depth_rule, trap_rule)


# A pre-flight reads robots.txt itself, before anything else.
PREFLIGHT_RULES = (registry_rule, risk_rule)
# Whoever asks for the file of a proof owns the site; one elsewhere on it is subject to all rules.
PROOF_RULES = (registry_rule, risk_rule, scope_rule)
OWN_FILE = Decision(Verdict.ALLOWED, "proof", "the site's owner asked for this file to be fetched")


def decide_task(candidate: DueTask) -> Decision:
    """Decide whether a task may run now."""
    if candidate.task.kind == KIND:
        return decide(candidate, PREFLIGHT_RULES, PREFLIGHT)
    if candidate.task.kind == PROOF and candidate.task.url.endswith(FILE):
        return decide(candidate, PROOF_RULES, OWN_FILE)
    return decide(candidate, RULES, ALLOWED)
