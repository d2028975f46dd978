"""O-Domains: what the passing of time and the path's traces mean for the life of domains."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from messor.engine import erasing, resting, watching
from messor.schedule.orchestrators import Done, Orchestrator, Place
from messor.store.database import Connection

PER_STEP = 200

Chore = Callable[[Connection, int], Awaitable[int]]

CHORES: tuple[tuple[str, Chore], ...] = (
    ("domains_returned", resting.return_rested),
    ("domains_recovered", watching.recovered),
    ("domains_failing", watching.failing),
    ("domains_changed_hands", watching.changed_hands),
    ("domains_turned_away", watching.turned_away),
)


async def step(connection: Connection, place: Place) -> Done:
    """One chore, then the next; erasures that visits held up come last."""
    if place.chore == len(CHORES):
        await erasing.finish(connection)
        return Done({})
    name, chore = CHORES[place.chore]
    return Done({name: await chore(connection, PER_STEP)}, Place(place.chore + 1))


DOMAINS = Orchestrator(
    "O-Domains",
    "brings back domains that have rested, and notices those that fail or are not what they were",
    "*/5 * * * *",
    step,
)
