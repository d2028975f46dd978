"""The ordered rules of a fetch: registry, risk, robots, scope, depth, trap. The first "no" wins.

Budgets are kept where pages are admitted, the cache where an ingestion plans.
"""

from __future__ import annotations

from typing import NamedTuple

from messor.core import clock
from messor.crawl.preflight import ALLOWED as PREFLIGHT
from messor.crawl.preflight import KIND
from messor.frontier.tasks import Task
from messor.frontier.traps import is_plain, trap_of
from messor.ledger.decisions import Decision, Verdict, decide, deferred, denied
from messor.politeness.lanes import Lane
from messor.web.suffixes import registrable_domain

ALLOWED = Decision(Verdict.ALLOWED, "approved", "the domain is approved and no rule objects")


class DueTask(NamedTuple):
    """A task in its lane, about to be decided on."""

    lane: Lane
    task: Task
    agent: str
    closed: bool  # the domain was suspended or worse since the lane was claimed


def registry_rule(candidate: DueTask) -> Decision | None:
    if candidate.closed:
        return deferred("registry", f"{candidate.lane.policy.domain} may not be visited now")
    if not candidate.lane.approved and candidate.task.kind != KIND:
        return deferred("registry", f"{candidate.lane.policy.domain} waits for review")
    return None


def risk_rule(candidate: DueTask) -> Decision | None:
    lane = candidate.lane
    if lane.standing.is_critical and not lane.assisted:
        return deferred("risk", f"{lane.host} is left alone at risk {lane.standing.score:.0f}")
    return None


def robots_rule(candidate: DueTask) -> Decision | None:
    if candidate.task.kind == "robots":
        return None  # robots.txt itself is always allowed (RFC 9309 2.2.2)
    robots = candidate.lane.robots_for(candidate.task.url)
    if robots is None:
        return deferred("robots", "robots.txt was not read yet")
    return robots.objection(candidate.agent, candidate.task.url)


def scope_rule(candidate: DueTask) -> Decision | None:
    if candidate.task.kind == "robots":
        return None  # another host's robots.txt may lie here
    policy, name = candidate.lane.policy, candidate.lane.host.partition(":")[0]
    if registrable_domain(name) != policy.domain:
        return denied("scope", f"{name} is not within {policy.domain}")
    return None


def depth_rule(candidate: DueTask) -> Decision | None:
    limit = candidate.lane.policy.max_crawl_depth
    if candidate.task.turns:
        return None  # a run counts from its named URL, and came upon this page
    if candidate.task.kind == "page" and candidate.task.depth > limit:
        return denied("depth", f"depth {candidate.task.depth} is over the domain's {limit}")
    return None


def trap_rule(candidate: DueTask) -> Decision | None:
    task = candidate.task
    if task.kind != "page" or task.depth == 0 or is_plain(task.url):
        return None  # what a person asked for is no trap
    trap = trap_of(task.url, clock.this_year())
    return denied("trap", trap) if trap else None


RULES = (registry_rule, risk_rule, robots_rule, scope_rule, depth_rule, trap_rule)


# A first look asks robots.txt itself, before anything else.
PREFLIGHT_RULES = (registry_rule, risk_rule)


def decide_task(candidate: DueTask) -> Decision:
    """May this task be done now?"""
    if candidate.task.kind == KIND:
        return decide(candidate, PREFLIGHT_RULES, PREFLIGHT)
    return decide(candidate, RULES, ALLOWED)
