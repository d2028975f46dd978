"""O-Rollup: counts requests by minute and by day, for charts."""

from __future__ import annotations

from messor.fetch import rollups
from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.store.database import Connection


async def step(connection: Connection, _: RunPosition) -> StepResult:
    """Count an hour of the log per step, until all that has settled is counted."""
    more = await rollups.roll_up_in(connection)
    return StepResult({"stretches_counted": 1}, RunPosition() if more else None)


ROLLUP = Orchestrator(
    "O-Rollup",
    "counts requests by minute and by day, for charts",
    "* * * * *",
    step,
)
