"""Whether a page may be imported: its domain's status and the erasure list."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from messor.frontier.cadence import DEFAULT_FREQUENCY
from messor.imports.prepare import ImportCandidate
from messor.ledger.events import Event, record
from messor.registry import domains
from messor.registry.domains import Submission
from messor.store.database import Connection

TERMS = """
SELECT id, domain, status, active, rejection_reason, harvest,
       greatest(page_budget - pages_known, 0) AS room,
       coalesce(scrape_frequency_hours * 3600.0, $2)::float8 AS frequency
  FROM messor.domains WHERE domain = ANY ($1::text[]) ORDER BY id
"""
# Locked, so that status and budget stay valid until the pages are committed.
LOCKED_TERMS = f"{TERMS} FOR NO KEY UPDATE"

ERASED = """
SELECT kind, key, reason FROM messor.erasures
 WHERE (kind = 'domain' AND key = ANY ($1::text[])) OR (kind = 'url' AND key = ANY ($2::text[]))
"""

ONLY_ASKED = """
UPDATE messor.domains SET harvest = 'asked', policy_version = policy_version + 1,
       updated_at = messor.clock() WHERE id = $1
"""

_REFUSED = {
    "pending_review": "{0} awaits review; approve it: messor domains approve {0}",
    "rejected": "{0} was rejected: {1}",
    "suspended": "{0} is suspended",
    "blacklisted": "{0} is blacklisted: {1}",
}


@dataclass(frozen=True, slots=True)
class DomainTerms:
    """The registry's terms for one domain."""

    id: UUID
    domain: str
    status: str
    active: bool
    rejection_reason: str | None
    harvest: str
    room: int  # pages left in its budget
    frequency: float  # seconds between two crawls of a page

    @property
    def objection(self) -> str | None:
        if self.status == "approved":
            return None if self.active else f"{self.domain} is not active"
        return _REFUSED[self.status].format(self.domain, self.rejection_reason)

    @property
    def harvests_site(self) -> bool:
        return self.harvest == "site"


@dataclass(frozen=True, slots=True)
class Rules:
    """The terms of a batch's domains, and its erased pages."""

    terms: Mapping[str, DomainTerms]
    erased: Mapping[tuple[str, str], str]

    def objection(self, candidate: ImportCandidate) -> str | None:
        """Why a page may not be imported; None if it may."""
        domain = candidate.domain
        for key in (("domain", domain), ("url", candidate.key)):
            if key in self.erased:
                return f"{key[1]} was erased and must not be stored: {self.erased[key]}"
        if domain not in self.terms:
            return f"{domain} is not known; submit it: messor domains submit {domain}"
        return self.terms[domain].objection


async def load(
    connection: Connection, candidates: Sequence[ImportCandidate], *, lock: bool = False
) -> Rules:
    """The rules for some pages; locked if they are about to be stored."""
    names = sorted({candidate.domain for candidate in candidates})
    rows = await connection.fetch(LOCKED_TERMS if lock else TERMS, names, DEFAULT_FREQUENCY)
    keys = [candidate.key for candidate in candidates]
    erased = await connection.fetch(ERASED, names, keys)
    return Rules(
        {row["domain"]: DomainTerms(*row) for row in rows},
        {(row["kind"], row["key"]): row["reason"] for row in erased},
    )


def unapproved(rules: Rules, wanted: Collection[str]) -> set[str]:
    """Wanted domains that are new or await review."""
    known = rules.terms
    return {
        name
        for name in wanted
        if ("domain", name) not in rules.erased
        and (name not in known or known[name].status == "pending_review")
    }


async def approve(connection: Connection, submission: Submission, *, actor: str) -> None:
    """Submit and approve a domain for its imported pages only: nothing of it becomes due."""
    domain, _ = await domains.submit(connection, submission, actor=actor, context="manual import")
    if domain.status != "pending_review":
        return
    domain = await domains.move(connection, domain, "approved", actor=actor)
    await connection.execute(ONLY_ASKED, domain.id)
    terms = {"harvest": "asked"}
    await record(connection, [Event("domain.configured", actor, domain.id, data=terms)])
