"""O-Parsers: reports a parser that loses what it used to find on a domain, or fails there.

An alarm is an event, so it reaches the log, the console and webhooks. It is raised once a day for
the same parser, kind and domain, until the loss is dealt with.
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

REPORTED = """
SELECT d.id, d.domain, e.data ->> 'parser' AS parser, e.data ->> 'kind' AS kind
  FROM messor.domains d LEFT JOIN messor.events e
    ON e.domain_id = d.id AND e.type = $2 AND e.occurred_at >= (SELECT messor.clock()) - interval '1 day'
 WHERE d.domain = ANY ($1)
"""


async def step(connection: Connection, _: RunPosition) -> StepResult:
    """Raise the alarms that were not raised within a day."""
    alarming = [_lost(one) for one in await health(connection) if one.is_alarming]
    alarming += [_failing(one) for one in await failures(connection) if one.is_alarming]
    rows = await connection.fetch(REPORTED, [domain for domain, _ in alarming], ALARM)
    ids = {row["domain"]: row["id"] for row in rows}
    reported = {(row["domain"], row["parser"], row["kind"]) for row in rows}
    new = [
        Event(ALARM, ACTOR, ids[domain], None, data)
        for domain, data in alarming
        if (domain, data["parser"], data.get("kind")) not in reported
    ]
    await events.record(connection, new)
    return StepResult({"parsers_failing": len(new)})


def _lost(one: Health) -> tuple[str, dict[str, str | int]]:
    message = f"{one.parser} lost {one.lost} of {one.lost + one.held} {one.noun} in a day"
    return one.domain, {
        "parser": one.parser,
        "kind": one.kind,
        "lost": one.lost,
        "held": one.held,
        "what": f"{message}, on pages that are still there.",
    }


def _failing(one: Failing) -> tuple[str, dict[str, str | int]]:
    return one.domain, {
        "parser": one.parser,
        "failed": one.failed,
        "pages": one.pages,
        "what": f"{one.message} in a day.",
    }


PARSERS = Orchestrator(
    "O-Parsers",
    "reports parsers that lose what they used to find on a domain, or fail there",
    "*/15 * * * *",
    step,
)
