"""Trials: a candidate version of a parser compared with what is stored, and a person's decision.

Promoting pins the version, rolling back lifts the pin; neither reads anything again by itself.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec

from messor.errors import ConflictError, NotFoundError
from messor.extract import pins
from messor.extract.reading import installed_parsers
from messor.kit.ids import new_id
from messor.ledger import events
from messor.ledger.events import Event
from messor.store.database import Connection, Database

ADD = """
INSERT INTO messor.parser_trials (id, parser, version, domain_id, pages, report, started_by)
VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
LIST = """
SELECT t.id, t.parser, t.version, d.domain, t.state, t.pages, t.started_by, t.started_at,
       t.decided_by, t.decided_at, t.reason, t.report
  FROM messor.parser_trials t LEFT JOIN messor.domains d ON d.id = t.domain_id
 ORDER BY t.id DESC LIMIT $1
"""
LOCK = "SELECT parser, version, domain_id, state FROM messor.parser_trials WHERE id = $1 FOR UPDATE"
DECIDE = """
UPDATE messor.parser_trials SET state = $2, decided_by = $3, decided_at = (SELECT messor.clock()),
       reason = $4 WHERE id = $1
"""

# A report quotes pages: what it says of some of them goes, what it counts everywhere stays.
FORGET = """
UPDATE messor.parser_trials SET report = jsonb_set(report #- ARRAY['domains', $1], '{examples}',
         coalesce((SELECT jsonb_agg(e) FROM jsonb_array_elements(report -> 'examples') e
                    WHERE strpos(e ->> 'url', $1) = 0), '[]'))
 WHERE strpos(report::text, $1) > 0
"""

# From which state a decision may be made.
_FROM = {"promoted": "compared", "rejected": "compared", "rolled_back": "promoted"}


async def add(
    connection: Connection,
    parser: str,
    version: str,
    report: dict[str, Any],
    *,
    domain_id: UUID | None,
    actor: str,
) -> UUID:
    """Keep the outcome of a comparison for a person to decide on."""
    trial_id = new_id()
    text = msgspec.json.encode(report).decode()
    await connection.execute(
        ADD, trial_id, parser, version, domain_id, report["pages"], text, actor
    )
    data = {"trial_id": str(trial_id), "parser": parser, "version": version}
    await events.record(connection, [Event("parser.compared", actor, domain_id, None, data)])
    return trial_id


async def listing(source: Connection | Database, limit: int = 50) -> list[dict[str, Any]]:
    rows = [dict(row) for row in await source.fetch(LIST, limit)]
    for row in rows:
        row["report"] = msgspec.json.decode(row["report"])
    return rows


async def forget(connection: Connection, name: str) -> None:
    """Remove what reports say of a domain, or of the page at an address."""
    await connection.execute(FORGET, name)


async def decide(
    connection: Connection, trial_id: UUID, state: str, *, actor: str, reason: str | None = None
) -> str:
    """Promote, reject or roll back; answers the parser and its version."""
    row = await connection.fetchrow(LOCK, trial_id)
    if row is None:
        raise NotFoundError(f"There is no trial {trial_id}.")
    if row["state"] != _FROM[state]:
        raise ConflictError(f"The trial is {row['state']}: it cannot be {state.replace('_', ' ')}.")
    parser, version, domain_id = row["parser"], row["version"], row["domain_id"]
    if state == "promoted":
        installed_parsers().get(parser, version)  # says so if it is no longer there
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
    """Lift the pin of a promotion, and no other that was set there since."""
    reading = await pins.pinned(connection, parser, domain_id)
    if reading != version:
        now = f"{reading} is pinned" if reading else "no version is pinned"
        raise ConflictError(
            f"{parser} {version} no longer reads there: {now} now. Only what reads can be rolled back."
        )
    await pins.lift(connection, parser, domain_id=domain_id, actor=actor)
