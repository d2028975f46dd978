"""O-Classify: what kind of site a domain is, for domains that are new or were long not looked at.

A domain that a search found is judged by its results first, and again once a page of it was read.
"""

from __future__ import annotations

from messor.insight import classes
from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.store.database import Connection

PER_STEP = 100

READ_SINCE = """
SELECT DISTINCT c.domain FROM messor.candidates c JOIN messor.domain_classes k ON k.domain = c.domain
 WHERE c.crawled_at > k.classified_at AND k.decided_by IS NULL LIMIT $1
"""


async def step(connection: Connection, place: RunPosition) -> StepResult:
    """Some domains, then more, until none waits; first those that are new or stale."""
    if place.chore == 0:
        count = await classes.classify_waiting(connection, PER_STEP)
        return StepResult({"domains_classified": count}, RunPosition(0 if count == PER_STEP else 1))
    names = [row["domain"] for row in await connection.fetch(READ_SINCE, PER_STEP)]
    await classes.classify(connection, names)
    following = place if len(names) == PER_STEP else None
    return StepResult({"domains_classified": len(names)}, following)


CLASSIFY = Orchestrator(
    "O-Classify",
    "tells what kind of site a new domain is",
    "45 * * * *",
    step,
)
