"""O-SERP: asks for a snapshot of every keyword whose tier is due, once in its window."""

from __future__ import annotations

from messor.schedule.orchestrators import Done, Orchestrator, Place
from messor.scout import tracking
from messor.store.database import Connection
from messor.verticals import verticals

PER_STEP = 1_000


async def step(connection: Connection, place: Place) -> Done:
    """One vertical after the other, until none has a keyword left that is due."""
    applied = await verticals.listing(connection)
    if place.chore >= len(applied):
        return Done({"snapshots_asked_for": 0})
    asked = await tracking.ask_for_jobs(connection, applied[place.chore].id, PER_STEP)
    following = place if asked == PER_STEP else Place(place.chore + 1)
    return Done({"snapshots_asked_for": asked}, following)


SERP = Orchestrator(
    "O-SERP",
    "asks search engines for the keywords whose tier is due",
    "30 4 * * *",
    step,
)
