"""O-Classify: determines the site class of domains that are new or were classified long ago.

A domain found by a search is classified by its results first, and again once one of its pages was
read.
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
    """Classify some domains per step until none are left; new and stale ones first."""
    if place.chore == 0:
        count = await classes.classify_waiting(connection, PER_STEP)
        return StepResult({"domains_classified": count}, RunPosition(0 if count == PER_STEP else 1))
    names = [row["domain"] for row in await connection.fetch(READ_SINCE, PER_STEP)]
    await classes.classify(connection, names)
    following = place if len(names) == PER_STEP else None
    return StepResult({"domains_classified": len(names)}, following)


CLASSIFY = Orchestrator(
    "O-Classify",
    "classifies new domains by kind of site",
    "45 * * * *",
    step,
)
