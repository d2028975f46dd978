"""O-Classify: what kind of site a domain is, for domains that are new or were long not looked at."""

from __future__ import annotations

from messor.insight import classes
from messor.schedule.orchestrators import Done, Orchestrator, Place
from messor.store.database import Connection

PER_STEP = 100


async def step(connection: Connection, _: Place) -> Done:
    """Some domains, then more, until none waits."""
    count = await classes.classify_waiting(connection, PER_STEP)
    return Done({"domains_classified": count}, Place() if count == PER_STEP else None)


CLASSIFY = Orchestrator(
    "O-Classify",
    "tells what kind of site a new domain is",
    "45 * * * *",
    step,
)
