"""Roles, and the one table of who may do what."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class Role(StrEnum):
    ADMIN = "admin"
    REVIEWER = "reviewer"
    SUBMITTER = "submitter"
    VIEWER = "viewer"


class Act(StrEnum):
    """What can be done through a door; the scopes of a key are some of these."""

    READ = "read"  # domains, pages, snapshots, fetches, tasks, jobs, decisions, events, health
    DOMAINS_SUBMIT = "domains.submit"  # ask for a domain or a URL
    DOMAINS_REVIEW = "domains.review"  # approve, reject, suspend, resume, trust, blacklist, note
    DOMAINS_CONFIGURE = "domains.configure"  # the terms a domain is crawled by
    DOMAINS_IMPORT = "domains.import"  # many domains as approved, saved pages
    DATA_ERASE = "data.erase"  # purge what was kept; erasures
    CRAWL_CONTROL = "crawl.control"  # tasks and batches: make, pause, resume, stop, again now
    INGEST_RUN = "ingest.run"
    JOBS_CONTROL = "jobs.control"  # dead letters: requeue, purge
    SCHEDULE_CONTROL = "schedule.control"
    TRAFFIC_HALT = "traffic.halt"  # stop all requests to sites
    TRAFFIC_RESUME = "traffic.resume"
    PROXIES_MANAGE = "proxies.manage"  # see them, too
    WEBHOOKS_MANAGE = "webhooks.manage"  # see them, too
    AUDIT_READ = "audit.read"  # who logged in, who changed whom
    ACCOUNT_OWN = "account.own"  # one's own password, sessions and keys
    MEMBERS_MANAGE = "members.manage"  # everybody's roles, links, sessions and keys


_EVERYBODY = frozenset(Role)
_ALL_BUT_VIEWERS = _EVERYBODY - {Role.VIEWER}
_REVIEWERS = frozenset({Role.ADMIN, Role.REVIEWER})
_ADMINS = frozenset({Role.ADMIN})

PERMISSIONS: Mapping[Act, frozenset[Role]] = MappingProxyType(
    {
        Act.READ: _EVERYBODY,
        Act.DOMAINS_SUBMIT: _ALL_BUT_VIEWERS,
        Act.DOMAINS_REVIEW: _REVIEWERS,
        Act.DOMAINS_CONFIGURE: _REVIEWERS,
        Act.DOMAINS_IMPORT: _ADMINS,
        Act.DATA_ERASE: _ADMINS,
        Act.CRAWL_CONTROL: _REVIEWERS,
        Act.INGEST_RUN: _ALL_BUT_VIEWERS,
        Act.JOBS_CONTROL: _ADMINS,
        Act.SCHEDULE_CONTROL: _ADMINS,
        Act.TRAFFIC_HALT: _REVIEWERS,
        Act.TRAFFIC_RESUME: _ADMINS,
        Act.PROXIES_MANAGE: _ADMINS,
        Act.WEBHOOKS_MANAGE: _ADMINS,
        Act.AUDIT_READ: _ADMINS,
        Act.ACCOUNT_OWN: _EVERYBODY,
        Act.MEMBERS_MANAGE: _ADMINS,
    }
)

# No key may do these: with them a stolen key could make itself at home and survive being revoked.
NEVER_BY_KEY = frozenset({Act.ACCOUNT_OWN, Act.MEMBERS_MANAGE})


def acts_of(role: Role) -> frozenset[Act]:
    """All that a role may do."""
    return frozenset(act for act, roles in PERMISSIONS.items() if role in roles)


def key_acts_of(role: Role) -> frozenset[Act]:
    """All that a key of such a member may do at most."""
    return acts_of(role) - NEVER_BY_KEY
