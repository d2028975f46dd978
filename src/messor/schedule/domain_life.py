"""O-Domains: what time and crawl results mean for the life of domains."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from messor.governance import erasure, follow_up, rest
from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.store.database import Connection

PER_STEP = 200

Chore = Callable[[Connection, int], Awaitable[int]]

CHORES: tuple[tuple[str, Chore], ...] = (
    ("domains_returned", rest.return_rested),
    ("domains_recovered", follow_up.recovered),
    ("domains_failing", follow_up.failing),
    ("domains_changed_hands", follow_up.changed_hands),
    ("domains_turned_away", follow_up.turned_away),
)


async def step(connection: Connection, place: RunPosition) -> StepResult:
    """One chore, then the next; erasures that visits delayed come last."""
    if place.chore == len(CHORES):
        await erasure.finish(connection)
        return StepResult({})
    name, chore = CHORES[place.chore]
    return StepResult({name: await chore(connection, PER_STEP)}, RunPosition(place.chore + 1))


DOMAINS = Orchestrator(
    "O-Domains",
    "resumes domains whose rest is over, and detects those that fail or changed hands",
    "*/5 * * * *",
    step,
)
