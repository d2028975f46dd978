"""Trials: a candidate version of a parser is compared with the current one, and a person decides.

It is compared with what is stored, all at once, or it shadows: it reads incoming pages beside the
current parser until it has read enough or a person has seen enough. Promoting pins the version,
rolling back removes the pin; neither reads stored pages again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec

from messor.core.ids import new_id
from messor.errors import ConflictError, NotFoundError
from messor.ledger import events
from messor.ledger.events import Event
from messor.parsers import pins
from messor.parsers.page_reading import installed_parsers
from messor.store.database import Connection

ADD = """
INSERT INTO messor.parser_trials (id, parser, version, domain_id, pages, report, started_by)
VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
BEGIN = """
INSERT INTO messor.parser_trials
  (id, parser, version, domain_id, pages, report, started_by, state, most)
VALUES ($1, $2, $3, $4, 0, $5, $6, 'shadowing', $7)
"""
# Concurrent starts of a trial wait for each other.
ONE_BEGINS = "SELECT pg_advisory_xact_lock(hashtext('messor.parser_trials'))"
SHADOWS = """
SELECT id, parser, version, domain_id FROM messor.parser_trials
 WHERE state = 'shadowing' ORDER BY id
"""
LOCK_SHADOW = """
SELECT report::text, most FROM messor.parser_trials WHERE id = $1 AND state = 'shadowing' FOR UPDATE
"""
COUNT = """
UPDATE messor.parser_trials SET report = $2, pages = $3,
       state = CASE WHEN $3 >= most THEN 'compared' ELSE state END
 WHERE id = $1 RETURNING parser, version, domain_id, state, started_by
"""
LOCK = """
SELECT parser, version, domain_id, state, pages FROM messor.parser_trials WHERE id = $1 FOR UPDATE
"""
DECIDE = """
UPDATE messor.parser_trials SET state = $2, decided_by = $3, decided_at = (SELECT messor.clock()),
       reason = $4 WHERE id = $1
"""

# A report quotes pages: quotes of removed pages are deleted, the totals stay.
FORGET = """
UPDATE messor.parser_trials SET report = jsonb_set(report #- ARRAY['domains', $1], '{examples}',
         coalesce((SELECT jsonb_agg(e) FROM jsonb_array_elements(report -> 'examples') e
                    WHERE strpos(e ->> 'url', $1) = 0), '[]'))
 WHERE strpos(report::text, $1) > 0
"""

# States from which a decision may be made.
_FROM = {
    "promoted": ("compared", "shadowing"),
    "rejected": ("compared", "shadowing"),
    "rolled_back": ("promoted",),
}
MOST_SHADOWS = 5  # concurrent shadows: each reads every page once more


@dataclass(frozen=True, slots=True)
class Shadow:
    """A candidate that shadows the current parser."""

    id: UUID
    parser: str
    version: str
    domain_id: UUID | None  # None: everywhere


async def add(
    connection: Connection,
    parser: str,
    version: str,
    report: dict[str, Any],
    *,
    domain_id: UUID | None,
    actor: str,
) -> UUID:
    """Store the result of a comparison for a person's decision."""
    trial_id = new_id()
    text = msgspec.json.encode(report).decode()
    await connection.execute(
        ADD, trial_id, parser, version, domain_id, report["pages"], text, actor
    )
    data = {"trial_id": str(trial_id), "parser": parser, "version": version}
    await events.record(connection, [Event("parser.compared", actor, domain_id, None, data)])
    return trial_id


async def begin(
    connection: Connection,
    parser: str,
    version: str,
    report: dict[str, Any],
    *,
    domain_id: UUID | None,
    most: int,
    actor: str,
) -> UUID:
    """Start a shadow trial that ends after `most` compared pages."""
    await connection.execute(ONE_BEGINS)
    open_ = await shadows(connection)
    if (parser, version, domain_id) in [(one.parser, one.version, one.domain_id) for one in open_]:
        raise ConflictError(f"A shadow trial of {parser} {version} is already running there.")
    if len(open_) >= MOST_SHADOWS:
        raise ConflictError(
            f"{len(open_)} shadow trials are running, which is the maximum; decide on one first."
        )
    trial_id = new_id()
    text = msgspec.json.encode(report).decode()
    await connection.execute(BEGIN, trial_id, parser, version, domain_id, text, actor, most)
    data = {"trial_id": str(trial_id), "parser": parser, "version": version, "most": most}
    await events.record(connection, [Event("parser.shadowing", actor, domain_id, None, data)])
    return trial_id


async def shadows(connection: Connection) -> list[Shadow]:
    """Return the running shadow trials."""
    return [Shadow(*row) for row in await connection.fetch(SHADOWS)]


async def lock_shadow(connection: Connection, trial_id: UUID) -> tuple[dict[str, Any], int] | None:
    """Lock a shadow trial and return its report so far and its page limit.

    Returns None if it is no longer running.
    """
    row = await connection.fetchrow(LOCK_SHADOW, trial_id)
    return None if row is None else (msgspec.json.decode(row["report"]), row["most"])


async def count(connection: Connection, trial_id: UUID, report: dict[str, Any]) -> None:
    """Store the report of a locked shadow trial; one with enough pages becomes compared."""
    text = msgspec.json.encode(report).decode()
    row = await connection.fetchrow(COUNT, trial_id, text, report["pages"])
    assert row is not None
    if row["state"] == "compared":
        data = {"trial_id": str(trial_id), "parser": row["parser"], "version": row["version"]}
        event = Event("parser.compared", row["started_by"], row["domain_id"], None, data)
        await events.record(connection, [event])


async def forget(connection: Connection, name: str) -> None:
    """Remove a domain, or the page at a URL, from reports."""
    await connection.execute(FORGET, name)


async def decide(
    connection: Connection, trial_id: UUID, state: str, *, actor: str, reason: str | None = None
) -> str:
    """Promote, reject or roll back a trial; returns the parser and its version."""
    row = await connection.fetchrow(LOCK, trial_id)
    if row is None:
        raise NotFoundError(f"There is no trial {trial_id}.")
    if row["state"] not in _FROM[state]:
        raise ConflictError(f"The trial is {row['state']}: it cannot be {state.replace('_', ' ')}.")
    if state == "promoted" and not row["pages"]:
        raise ConflictError("The trial has compared no page yet, so it cannot be promoted.")
    parser, version, domain_id = row["parser"], row["version"], row["domain_id"]
    if state == "promoted":
        installed_parsers().get(parser, version)  # raises if it is no longer installed
        await pins.pin(connection, parser, version, domain_id=domain_id, actor=actor)
    elif state == "rolled_back":
        await _roll_back(connection, parser, version, domain_id, actor)
    await connection.execute(DECIDE, trial_id, state, actor, reason)
    data = {"trial_id": str(trial_id), "parser": parser, "version": version, "reason": reason}
    await events.record(connection, [Event(f"parser.{state}", actor, domain_id, None, data)])
    return f"{parser} {version}"


async def _roll_back(
    connection: Connection, parser: str, version: str, domain_id: UUID | None, actor: str
) -> None:
    """Remove the pin of a promotion, but not one set there since."""
    reading = await pins.pinned(connection, parser, domain_id)
    if reading != version:
        now = f"{reading} is pinned" if reading else "no version is pinned"
        raise ConflictError(
            f"{parser} {version} is no longer in use there ({now}); only the version in use can be rolled back."
        )
    await pins.lift(connection, parser, domain_id=domain_id, actor=actor)
