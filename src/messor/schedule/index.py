"""O-Index: what extraction has stored becomes findable."""

from __future__ import annotations

from messor.insight.search_index import index_waiting
from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.store.database import Connection

PER_STEP = 200


async def step(connection: Connection, _: RunPosition) -> StepResult:
    """Some pages, then more, until none waits."""
    count = await index_waiting(connection, PER_STEP)
    return StepResult({"pages_indexed": count}, RunPosition() if count == PER_STEP else None)


INDEX = Orchestrator(
    "O-Index",
    "makes pages and records findable that were extracted meanwhile",
    "* * * * *",
    step,
)
