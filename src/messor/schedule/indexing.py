"""O-Index: what extraction has stored becomes findable."""

from __future__ import annotations

from messor.insight.indexing import index_waiting
from messor.schedule.orchestrators import Done, Orchestrator, Place
from messor.store.database import Connection

PER_STEP = 200


async def step(connection: Connection, _: Place) -> Done:
    """Some pages, then more, until none waits."""
    count = await index_waiting(connection, PER_STEP)
    return Done({"pages_indexed": count}, Place() if count == PER_STEP else None)


INDEX = Orchestrator(
    "O-Index",
    "makes pages and records findable that were extracted meanwhile",
    "* * * * *",
    step,
)
