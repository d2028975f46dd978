"""What reviewers record besides decisions: notes, trust, vertical, class, another review."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from messor.core.ids import new_id
from messor.errors import ConflictError, UsageError
from messor.ledger.events import Event, record
from messor.registry import domains
from messor.registry.domains import COLUMNS, MAX_REASON, Domain, checked
from messor.store.database import Connection, Database

MAX_NOTE = 10_000

ADD = """
INSERT INTO messor.domain_notes (id, domain_id, author, body) VALUES ($1, $2, $3, $4)
RETURNING id, author, body, created_at
"""
OF_DOMAIN = """
SELECT id, author, body, created_at FROM messor.domain_notes
 WHERE domain_id = $1 ORDER BY created_at, id LIMIT $2
"""
TRUST = f"""
UPDATE messor.domains SET is_trusted_domain = $2, policy_version = policy_version + 1,
       updated_at = messor.clock() WHERE id = $1 RETURNING {COLUMNS}
"""
LOOK_AGAIN = f"""
UPDATE messor.domains SET review_reason = $2, updated_at = messor.clock() WHERE id = $1
RETURNING {COLUMNS}
"""
CLASSIFY = f"""
UPDATE messor.domains SET domain_class = $2, updated_at = messor.clock() WHERE id = $1
RETURNING {COLUMNS}
"""

SET_VERTICAL = f"""
UPDATE messor.domains SET vertical = $2, policy_version = policy_version + 1,
       updated_at = messor.clock() WHERE id = $1 RETURNING {COLUMNS}
"""


@dataclass(frozen=True, slots=True)
class Note:
    """A note about a domain."""

    id: UUID
    author: str
    body: str
    created_at: datetime


async def add(connection: Connection, domain: Domain, body: str, *, actor: str) -> Note:
    """Store a note about a domain."""
    text = checked(body, "note", MAX_NOTE)
    if text is None:
        raise UsageError("The note is empty; write some text.")
    row = await connection.fetchrow(ADD, new_id(), domain.id, actor, text)
    assert row is not None
    note = Note(*row)
    await record(connection, [Event("domain.noted", actor, domain.id, data={"note": str(note.id)})])
    return note


async def of_domain(source: Connection | Database, domain: Domain, limit: int = 200) -> list[Note]:
    return [Note(*row) for row in await source.fetch(OF_DOMAIN, domain.id, limit)]


async def trust(connection: Connection, domain: Domain, *, actor: str, trusted: bool) -> Domain:
    """Accept URLs of a domain from anyone, or stop doing so."""
    domain = await domains.lock(connection, domain.domain)
    if domain.is_trusted_domain == trusted:
        return domain
    if trusted and domain.status != "approved":
        raise ConflictError(
            f"{domain.domain} is {domain.status}{domains.decided(domain)}; "
            "only an approved domain can be trusted."
        )
    row = await connection.fetchrow(TRUST, domain.id, trusted)
    assert row is not None
    kind = "domain.trusted" if trusted else "domain.untrusted"
    await record(connection, [Event(kind, actor, domain.id)])
    return Domain(**row)


async def look_again(connection: Connection, domain: Domain, reason: str, *, actor: str) -> Domain:
    """Flag an approved domain for review while its crawl continues."""
    why = checked(reason, "reason", MAX_REASON)
    if why is None:
        raise UsageError(f"Give a reason why {domain.domain} should be reviewed again.")
    domain = await domains.lock(connection, domain.domain)
    if domain.status != "approved":
        raise ConflictError(
            f"{domain.domain} is {domain.status}; only an approved domain is reviewed again."
        )
    if domain.review_reason == why:
        return domain
    row = await connection.fetchrow(LOOK_AGAIN, domain.id, why)
    assert row is not None
    fact = Event("domain.look_again", actor, domain.id, data={"reason": why})
    await record(connection, [fact])
    return Domain(**row)


async def keep(connection: Connection, domain: Domain, *, actor: str) -> Domain:
    """Close a repeated review without a change."""
    domain = await domains.lock(connection, domain.domain)
    if domain.review_reason is None or domain.status != "approved":
        raise ConflictError(
            f"No repeated review of {domain.domain} was requested; it is {domain.status}"
            f"{domains.decided(domain)}."
        )
    row = await connection.fetchrow(LOOK_AGAIN, domain.id, None)
    assert row is not None
    data = {"reason": domain.review_reason}
    await record(connection, [Event("domain.kept", actor, domain.id, data=data)])
    return Domain(**row)


async def set_vertical(
    connection: Connection, domain: Domain, vertical: str | None, *, actor: str
) -> Domain:
    """Set or clear the vertical of a domain; the caller has checked that it is applied."""
    domain = await domains.lock(connection, domain.domain)
    if domain.vertical == vertical:
        return domain
    row = await connection.fetchrow(SET_VERTICAL, domain.id, vertical)
    assert row is not None
    data = {"vertical": vertical, "before": domain.vertical}
    await record(connection, [Event("domain.vertical_set", actor, domain.id, data=data)])
    return Domain(**row)


async def classify(
    connection: Connection, domain: Domain, domain_class: str, *, actor: str = "system"
) -> Domain:
    """Set a domain's class; a changed class flags the domain for review."""
    if checked(domain_class, "class", 100) is None:
        raise UsageError(f"Name the class of {domain.domain}; 'unknown' is one.")
    domain = await domains.lock(connection, domain.domain)
    if domain.domain_class == domain_class:
        return domain
    row = await connection.fetchrow(CLASSIFY, domain.id, domain_class)
    assert row is not None
    data = {"class": domain_class, "before": domain.domain_class}
    await record(connection, [Event("domain.classified", actor, domain.id, data=data)])
    if domain.domain_class == "unknown" or domain.status != "approved":
        return Domain(**row)
    reason = f"its class changed from {domain.domain_class} to {domain_class}"
    return await look_again(connection, Domain(**row), reason, actor=actor)
