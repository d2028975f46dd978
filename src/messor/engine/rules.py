"""The ordered rules of a fetch: registry, robots, scope, budget. The first "no" wins."""

from __future__ import annotations

from dataclasses import dataclass

from messor.courtesy.lanes import Lane
from messor.frontier.tasks import Task
from messor.ledger.decisions import Decision, Verdict, decide, deferred, denied
from messor.web.suffixes import registrable_domain

ALLOWED = Decision(Verdict.ALLOWED, "approved", "the domain is approved and no rule objects")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A task in its lane, about to be decided on."""

    lane: Lane
    task: Task
    agent: str
    closed: bool  # the domain was suspended or worse since the lane was claimed


def registry_rule(candidate: Candidate) -> Decision | None:
    if candidate.closed:
        return deferred("registry", f"{candidate.lane.policy.domain} may not be visited now")
    return None


def robots_rule(candidate: Candidate) -> Decision | None:
    if candidate.task.kind == "robots":
        return None  # robots.txt itself is always allowed (RFC 9309 2.2.2)
    if candidate.lane.robots is None:
        return deferred("robots", "robots.txt was not read yet")
    return candidate.lane.robots.objection(candidate.agent, candidate.task.url)


def scope_rule(candidate: Candidate) -> Decision | None:
    policy, name = candidate.lane.policy, candidate.lane.host.partition(":")[0]
    if registrable_domain(name) != policy.domain:
        return denied("scope", f"{name} is not within {policy.domain}")
    return None


def depth_rule(candidate: Candidate) -> Decision | None:
    limit = candidate.lane.policy.max_crawl_depth
    if candidate.task.depth > limit:
        return denied("depth", f"depth {candidate.task.depth} is over the domain's {limit}")
    return None


RULES = (registry_rule, robots_rule, scope_rule, depth_rule)


def decide_task(candidate: Candidate) -> Decision:
    """May this task be done now?"""
    return decide(candidate, RULES, ALLOWED)
