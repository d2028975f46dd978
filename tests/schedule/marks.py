"""An orchestrator that leaves a mark; light to import, for the processes of these tests."""

from __future__ import annotations

from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.store.database import Connection


def counting(name: str = "O-Test", cadence: str = "0 * * * *") -> Orchestrator:
    """One that leaves an event for each of its runs."""

    async def step(connection: Connection, _: RunPosition) -> StepResult:
        await connection.execute(
            "INSERT INTO messor.events (type, actor) VALUES ('test.ran', $1)", name
        )
        return StepResult({"ran": 1})

    return Orchestrator(name, "leaves a mark", cadence, step)
