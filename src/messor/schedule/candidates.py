"""O-Candidates: crawls candidates of approved domains and submits those read for review."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from messor.governance import block_policy
from messor.governance import candidate_crawls as crawls
from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.store.database import Connection

PER_STEP = 20

Chore = Callable[[Connection, int], Awaitable[int]]

CHORES: tuple[tuple[str, Chore], ...] = (
    ("policies_followed", block_policy.follow_verticals),
    ("candidates_read", crawls.take_read),
    ("candidates_unread", crawls.note_unread),
    ("candidates_submitted", crawls.submit_ready),
)


async def step(connection: Connection, place: RunPosition) -> StepResult:
    """One chore until less is left than a step handles, then the next."""
    name, chore = CHORES[place.chore]
    count = await chore(connection, PER_STEP)
    if count == PER_STEP:
        return StepResult({name: count}, place)
    last = place.chore + 1 == len(CHORES)
    return StepResult({name: count}, None if last else RunPosition(place.chore + 1))


CANDIDATES = Orchestrator(
    "O-Candidates",
    "crawls candidates of approved domains, and submits those that were read for review",
    "*/5 * * * *",
    step,
)
