"""O-Score: computes scores per vertical weekly, and the track levels that follow."""

from __future__ import annotations

from messor.insight import scoring
from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.store.database import Connection
from messor.verticals import verticals

NAMES = "SELECT name FROM messor.verticals ORDER BY name OFFSET $1 LIMIT 1"


async def step(connection: Connection, place: RunPosition) -> StepResult:
    """Score one vertical per step."""
    name = await connection.fetchval(NAMES, place.chore)
    if name is None:
        return StepResult({})
    done = await scoring.apply(connection, await verticals.get(connection, name))
    counts = {
        "domains_scored": done.domains,
        "organisations_scored": done.organisations,
        "domains_unknown": done.unknown,
        "levels_changed": done.levels_changed,
    }
    return StepResult(counts, RunPosition(place.chore + 1))


SCORE = Orchestrator(
    "O-Score",
    "scores organisations and sets the track levels of their domains",
    "0 5 * * mon",
    step,
)
