"""O-SERP: requests a snapshot of every keyword whose tier is due, once per window."""

from __future__ import annotations

from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.scout import track
from messor.settings import Settings
from messor.store.database import Connection
from messor.verticals import verticals

PER_STEP = 1_000


async def step(connection: Connection, place: RunPosition) -> StepResult:
    """One vertical after another, until no keyword is due."""
    applied = await verticals.listing(connection)
    if place.chore >= len(applied):
        return StepResult({"snapshots_asked_for": 0})
    requested = await track.ask_for_jobs(connection, applied[place.chore].id, PER_STEP)
    following = place if requested == PER_STEP else RunPosition(place.chore + 1)
    return StepResult({"snapshots_asked_for": requested}, following)


SERP = Orchestrator(
    "O-SERP",
    "queries search engines for keywords whose tier is due",
    "30 4 * * *",
    step,
)


def available(settings: Settings) -> list[Orchestrator]:
    return [SERP] if settings.search_engines else []
