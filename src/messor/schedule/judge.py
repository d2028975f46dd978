"""O-Judge: turns unjudged search results into judged candidates."""

from __future__ import annotations

from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.scout import judge_pending, serps
from messor.store.database import Connection
from messor.verticals import verticals

ANSWERS_PER_STEP = 50
PAGES_PER_STEP = 50  # judging them is one transaction
ACTOR = "O-Judge"


async def step(connection: Connection, place: RunPosition) -> StepResult:
    """Unprocessed search responses first; then one vertical after another."""
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
    "judges result pages that have not been judged, and stores the candidates",
    "*/10 * * * *",
    step,
)
