"""O-Parsers: somebody is told when a parser loses what it used to find on a domain.

An alarm is an event, so it reaches the log, the console and webhooks. It is given once a day for
the same parser, kind and domain: the loss lasts until somebody has looked.
"""

from __future__ import annotations

from messor.extract.health import Health, health
from messor.ledger import events
from messor.ledger.events import Event
from messor.schedule.orchestrators import Done, Orchestrator, Place
from messor.store.database import Connection

ACTOR = "schedule"
ALARM = "parser.failing"

TOLD = """
SELECT d.id, d.domain, e.data ->> 'parser' AS parser, e.data ->> 'kind' AS kind
  FROM messor.domains d LEFT JOIN messor.events e
    ON e.domain_id = d.id AND e.type = $2 AND e.occurred_at >= (SELECT messor.clock()) - interval '1 day'
 WHERE d.domain = ANY ($1)
"""


async def step(connection: Connection, _: Place) -> Done:
    """Give the alarms that were not given within a day."""
    alarming = [one for one in await health(connection) if one.is_alarming]
    rows = await connection.fetch(TOLD, [one.domain for one in alarming], ALARM)
    ids = {row["domain"]: row["id"] for row in rows}
    told = {(row["domain"], row["parser"], row["kind"]) for row in rows}
    new = [one for one in alarming if (one.domain, one.parser, one.kind) not in told]
    await events.record(
        connection, [Event(ALARM, ACTOR, ids[one.domain], None, _said(one)) for one in new]
    )
    return Done({"parsers_failing": len(new)})


def _said(one: Health) -> dict[str, str | int]:
    said = f"{one.parser} lost {one.lost} of {one.lost + one.held} {one.kind} records in a day"
    return {
        "parser": one.parser,
        "kind": one.kind,
        "lost": one.lost,
        "held": one.held,
        "what": f"{said}, on pages that are still there.",
    }


PARSERS = Orchestrator(
    "O-Parsers",
    "tells when a parser loses what it used to find on a domain",
    "*/15 * * * *",
    step,
)
