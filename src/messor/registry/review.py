"""What a reviewer needs to decide on a domain. The queue itself is listed by `review_queries`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from messor.ledger.events import data_of
from messor.registry import domains, notes, preflights, similar, submissions
from messor.registry.domains import Domain
from messor.registry.notes import Note
from messor.registry.preflights import Preflight
from messor.registry.similar import Similar
from messor.registry.submissions import PastSubmission, WaitingUrl
from messor.store.database import Connection, Database


def _as_json(sql: str) -> str:
    """Rows of a statement as one JSON value."""
    return f"(SELECT coalesce(jsonb_agg(to_jsonb(part)), '[]')::text FROM ({sql}) part)"


WAITING = """
SELECT count(*) FROM messor.domains WHERE status = 'pending_review' OR review_reason IS NOT NULL
"""
HISTORY = """
SELECT occurred_at, type, actor, data::text AS data FROM messor.events
 WHERE domain_id = $1 AND type LIKE 'domain.%' ORDER BY occurred_at DESC, id DESC LIMIT $2
"""

# Submitters, submitted pages and notes in one query; each part uses its module's statement.
BESIDES = f"""
SELECT {_as_json(submissions.OF_DOMAIN)} AS submissions, {_as_json(submissions.WAITING)} AS urls,
       {_as_json(notes.OF_DOMAIN)} AS notes
"""
MAX_BESIDES = 200


@dataclass(frozen=True, slots=True)
class DomainFact:
    """An event in a domain's history."""

    occurred_at: datetime
    type: str
    actor: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Dossier:
    """Everything a reviewer needs on one screen."""

    domain: Domain
    submissions: list[PastSubmission]
    urls: list[WaitingUrl]
    notes: list[Note]
    preflight: Preflight | None
    similar: list[Similar]
    history: list[DomainFact]  # newest first


async def count(source: Connection | Database) -> int:
    """Number of domains awaiting review."""
    waiting: int = await source.fetchval(WAITING)
    return waiting


async def dossier(source: Connection | Database, name: str) -> Dossier:
    """Everything about one domain that bears on a decision."""
    domain = await domains.get(source, name)
    besides = await source.fetchrow(BESIDES, domain.id, MAX_BESIDES)
    assert besides is not None
    return Dossier(
        domain,
        msgspec.json.decode(besides["submissions"], type=list[PastSubmission]),
        msgspec.json.decode(besides["urls"], type=list[WaitingUrl]),
        msgspec.json.decode(besides["notes"], type=list[Note]),
        await preflights.newest(source, domain),
        await similar.similar_to(source, domain.domain),
        await history(source, domain),
    )


async def history(
    source: Connection | Database, domain: Domain, limit: int = 100
) -> list[DomainFact]:
    """Decisions and acts on a domain, with actors, newest first."""
    return [
        DomainFact(row["occurred_at"], row["type"], row["actor"], data_of(row["type"], row["data"]))
        for row in await source.fetch(HISTORY, domain.id, limit)
    ]
