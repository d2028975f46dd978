"""Organisations: a clinic, a shop, a funder; each belongs to a vertical and owns domains.

Within a vertical a domain has one owner. Whether a domain may be crawled is the registry's
decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from messor.core.ids import new_id
from messor.errors import ConflictError, NotFoundError, UsageError
from messor.ledger.events import Event, record
from messor.registry.domains import Submission, checked
from messor.store.database import Connection, Database
from messor.verticals.verticals import Applied

MAX_NAME = 300
MAX_DOMAINS = 100

PUT = """
INSERT INTO messor.organisations AS o (id, vertical_id, name, name_key, location, external_id,
                                       created_by)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (vertical_id, name_key) DO UPDATE
   SET location = coalesce(excluded.location, o.location),
       external_id = coalesce(excluded.external_id, o.external_id), updated_at = messor.clock()
 WHERE (o.location, o.external_id) IS DISTINCT FROM
       (coalesce(excluded.location, o.location), coalesce(excluded.external_id, o.external_id))
RETURNING id, xmax = 0 AS is_new
"""
BY_NAME = "SELECT id FROM messor.organisations WHERE vertical_id = $1 AND name_key = $2"
OWNERS = """
SELECT d.domain, o.name FROM messor.organisation_domains d
  JOIN messor.organisations o ON o.id = d.organisation_id
 WHERE d.vertical_id = $1 AND d.domain = ANY ($2::text[]) AND o.name_key <> $3
 ORDER BY d.domain LIMIT 1
"""
OWN = """
INSERT INTO messor.organisation_domains (vertical_id, domain, organisation_id)
SELECT $1::uuid, domain, $2::uuid FROM unnest($3::text[]) domain ORDER BY domain
ON CONFLICT DO NOTHING RETURNING domain
"""
OF_DOMAIN = """
SELECT organisation_id FROM messor.organisation_domains WHERE vertical_id = $1 AND domain = $2
"""


@dataclass(frozen=True, slots=True)
class NewOrganisation:
    """Data of an organisation; domains are registrable and lower-case."""

    name: str
    domains: tuple[str, ...] = ()
    location: str | None = None
    external_id: str | None = None

    @classmethod
    def understand(
        cls,
        name: str,
        domains: Sequence[str] = (),
        location: str | None = None,
        external_id: str | None = None,
    ) -> NewOrganisation:
        """Parse input; a domain may be given as a host or a URL."""
        clean = checked(" ".join(name.split()), "name", MAX_NAME)
        if clean is None:
            raise UsageError("Give the organisation a name.")
        names = tuple(dict.fromkeys(Submission.understand(text).domain for text in domains))
        if len(names) > MAX_DOMAINS:
            raise UsageError(f"An organisation can own at most {MAX_DOMAINS} domains.")
        return cls(
            clean,
            names,
            checked(location, "location", MAX_NAME),
            checked(external_id, "external id", 200),
        )

    @property
    def name_key(self) -> str:
        return self.name.casefold()


Outcome = Literal["created", "updated", "unchanged"]


async def put(
    connection: Connection, vertical: Applied, given: NewOrganisation, *, actor: str
) -> tuple[UUID, Outcome]:
    """Add an organisation, or update a known one; takes no domain from another."""
    taken = await connection.fetchrow(OWNERS, vertical.id, list(given.domains), given.name_key)
    if taken is not None:
        raise ConflictError(f"{taken['domain']} already belongs to {taken['name']}.")
    row = await connection.fetchrow(
        PUT,
        new_id(),
        vertical.id,
        given.name,
        given.name_key,
        given.location,
        given.external_id,
        actor,
    )
    key: UUID = (
        row["id"]
        if row is not None
        else await connection.fetchval(BY_NAME, vertical.id, given.name_key)
    )
    owned = await connection.fetch(OWN, vertical.id, key, list(given.domains))
    if row is not None and row["is_new"]:
        data = {"organisation": str(key), "name": given.name, "domains": list(given.domains)}
        await record(connection, [Event("organisation.created", actor, data=data)])
        return key, "created"
    return key, "updated" if row is not None or owned else "unchanged"


async def owner_of(source: Connection | Database, vertical: Applied, domain: str) -> UUID:
    """The organisation that owns a domain in a vertical."""
    key: UUID | None = await source.fetchval(OF_DOMAIN, vertical.id, domain)
    if key is None:
        raise NotFoundError(f"No organisation of {vertical.vertical.name} owns {domain}.")
    return key
