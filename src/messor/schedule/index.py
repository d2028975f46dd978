"""O-Index: adds what extraction stored to the search index."""

from __future__ import annotations

from messor.insight.search_index import index_waiting
from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.store.database import Connection

PER_STEP = 200


async def step(connection: Connection, _: RunPosition) -> StepResult:
    """Index some pages per step until none are left."""
    count = await index_waiting(connection, PER_STEP)
    return StepResult({"pages_indexed": count}, RunPosition() if count == PER_STEP else None)


INDEX = Orchestrator(
    "O-Index",
    "adds newly extracted pages and records to the search index",
    "* * * * *",
    step,
)
