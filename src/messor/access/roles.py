"""Roles, and the only table of permissions."""

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
    """A permission; the scopes of a key are a subset of these."""

    READ = "read"  # domains, pages, snapshots, fetches, tasks, jobs, decisions, events, health
    DOMAINS_SUBMIT = "domains.submit"  # submit a domain or a URL
    DOMAINS_REVIEW = "domains.review"  # approve, reject, suspend, resume, trust, blacklist, note
    DOMAINS_CONFIGURE = "domains.configure"  # the terms a domain is crawled on
    DOMAINS_IMPORT = "domains.import"  # import many domains as approved, and saved pages
    DATA_EXPORT = "data.export"  # files of whole lists
    RIGHTS_PERMIT = "rights.permit"  # permissions on file, against what a site says to everybody
    DATA_ERASE = "data.erase"  # purge stored content; erasures
    CRAWL_CONTROL = "crawl.control"  # tasks and batches: create, pause, resume, stop, rerun
    INGEST_RUN = "ingest.run"
    JOBS_CONTROL = "jobs.control"  # dead letters: requeue, purge
    SCHEDULE_CONTROL = "schedule.control"
    TRAFFIC_HALT = "traffic.halt"  # stop all requests to sites
    TRAFFIC_RESUME = "traffic.resume"
    PROXIES_MANAGE = "proxies.manage"  # including to list them
    WEBHOOKS_MANAGE = "webhooks.manage"  # including to list them
    WATCHES_MANAGE = "watches.manage"  # watches and the tokens of their feeds
    AUDIT_READ = "audit.read"  # logins and changes of members
    ACCOUNT_OWN = "account.own"  # one's own password, sessions and keys
    MEMBERS_MANAGE = "members.manage"  # roles, links, sessions and keys of all members


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
        Act.DATA_EXPORT: _ALL_BUT_VIEWERS,
        Act.RIGHTS_PERMIT: _ADMINS,
        Act.DATA_ERASE: _ADMINS,
        Act.CRAWL_CONTROL: _REVIEWERS,
        Act.INGEST_RUN: _ALL_BUT_VIEWERS,
        Act.JOBS_CONTROL: _ADMINS,
        Act.SCHEDULE_CONTROL: _ADMINS,
        Act.TRAFFIC_HALT: _REVIEWERS,
        Act.TRAFFIC_RESUME: _ADMINS,
        Act.PROXIES_MANAGE: _ADMINS,
        Act.WEBHOOKS_MANAGE: _ADMINS,
        Act.WATCHES_MANAGE: _REVIEWERS,
        Act.AUDIT_READ: _ADMINS,
        Act.ACCOUNT_OWN: _EVERYBODY,
        Act.MEMBERS_MANAGE: _ADMINS,
    }
)

# No key may do these: otherwise a stolen key could create further access and survive being revoked.
NEVER_BY_KEY = frozenset({Act.ACCOUNT_OWN, Act.MEMBERS_MANAGE})


def acts_of(role: Role) -> frozenset[Act]:
    """All acts of a role."""
    return frozenset(act for act, roles in PERMISSIONS.items() if role in roles)


def key_acts_of(role: Role) -> frozenset[Act]:
    """All acts that a key of such a member may have."""
    return acts_of(role) - NEVER_BY_KEY
