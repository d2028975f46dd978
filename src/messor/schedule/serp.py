"""O-SERP: asks for a snapshot of every keyword whose tier is due, once in its window."""

from __future__ import annotations

from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.scout import track
from messor.store.database import Connection
from messor.verticals import verticals

PER_STEP = 1_000


async def step(connection: Connection, place: RunPosition) -> StepResult:
    """One vertical after the other, until none has a keyword left that is due."""
    applied = await verticals.listing(connection)
    if place.chore >= len(applied):
        return StepResult({"snapshots_asked_for": 0})
    asked = await track.ask_for_jobs(connection, applied[place.chore].id, PER_STEP)
    following = place if asked == PER_STEP else RunPosition(place.chore + 1)
    return StepResult({"snapshots_asked_for": asked}, following)


SERP = Orchestrator(
    "O-SERP",
    "asks search engines for the keywords whose tier is due",
    "30 4 * * *",
    step,
)
