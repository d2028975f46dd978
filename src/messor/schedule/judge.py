"""O-Judge: what was searched for and nobody looked into becomes result pages, judged candidates."""

from __future__ import annotations

from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.scout import judge_pending, serps
from messor.store.database import Connection
from messor.verticals import verticals

ANSWERS_PER_STEP = 50
PAGES_PER_STEP = 50  # their judging is one transaction
ACTOR = "O-Judge"


async def step(connection: Connection, place: RunPosition) -> StepResult:
    """Answers first, whoever was to look into them; then one vertical after the other."""
    if place.chore == 0:
        count = await serps.process_some(connection, ANSWERS_PER_STEP)
        following = place if count == ANSWERS_PER_STEP else RunPosition(1)
        return StepResult({"answers_processed": count}, following)
    applied = await verticals.listing(connection)
    if place.chore > len(applied):
        return StepResult({})
    judged = await judge_pending.judge_waiting(
        connection, applied[place.chore - 1], actor=ACTOR, limit=PAGES_PER_STEP
    )
    following = place if judged.pages == PAGES_PER_STEP else RunPosition(place.chore + 1)
    counts = {"pages_judged": judged.pages, "candidates_created": judged.candidates}
    return StepResult(counts, following)


JUDGE = Orchestrator(
    "O-Judge",
    "judges result pages that nobody judged, and keeps the candidates",
    "*/10 * * * *",
    step,
)
