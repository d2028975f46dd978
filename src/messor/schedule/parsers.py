"""O-Parsers: somebody is told when a parser loses what it used to find on a domain, or fails there.

An alarm is an event, so it reaches the log, the console and webhooks. It is given once a day for
the same parser, kind and domain: the loss lasts until somebody has looked.
"""

from __future__ import annotations

from messor.extraction.parser_failures import Failing, failures
from messor.ledger import events
from messor.ledger.events import Event
from messor.parsers.health import Health, health
from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.store.database import Connection

ACTOR = "schedule"
ALARM = "parser.failing"

TOLD = """
SELECT d.id, d.domain, e.data ->> 'parser' AS parser, e.data ->> 'kind' AS kind
  FROM messor.domains d LEFT JOIN messor.events e
    ON e.domain_id = d.id AND e.type = $2 AND e.occurred_at >= (SELECT messor.clock()) - interval '1 day'
 WHERE d.domain = ANY ($1)
"""


async def step(connection: Connection, _: RunPosition) -> StepResult:
    """Give the alarms that were not given within a day."""
    alarming = [_lost(one) for one in await health(connection) if one.is_alarming]
    alarming += [_failing(one) for one in await failures(connection) if one.is_alarming]
    rows = await connection.fetch(TOLD, [domain for domain, _ in alarming], ALARM)
    ids = {row["domain"]: row["id"] for row in rows}
    told = {(row["domain"], row["parser"], row["kind"]) for row in rows}
    new = [
        Event(ALARM, ACTOR, ids[domain], None, data)
        for domain, data in alarming
        if (domain, data["parser"], data.get("kind")) not in told
    ]
    await events.record(connection, new)
    return StepResult({"parsers_failing": len(new)})


def _lost(one: Health) -> tuple[str, dict[str, str | int]]:
    said = f"{one.parser} lost {one.lost} of {one.lost + one.held} {one.noun} in a day"
    return one.domain, {
        "parser": one.parser,
        "kind": one.kind,
        "lost": one.lost,
        "held": one.held,
        "what": f"{said}, on pages that are still there.",
    }


def _failing(one: Failing) -> tuple[str, dict[str, str | int]]:
    return one.domain, {
        "parser": one.parser,
        "failed": one.failed,
        "pages": one.pages,
        "what": f"{one.said} in a day.",
    }


PARSERS = Orchestrator(
    "O-Parsers",
    "tells when a parser loses what it used to find on a domain, or fails there",
    "*/15 * * * *",
    step,
)
