"""Orchestrators: what runs automatically, how often, and in one sentence what it does.

A run is a series of steps, one transaction each; the last one also records the run, so that its
effects and its record commit together. An interrupted run starts over: steps must find nothing
left to do where they did it already.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

from messor.errors import ConflictError, NotFoundError
from messor.store.database import Connection


@dataclass(frozen=True, slots=True)
class RunPosition:
    """How far a run has come: which chore, which host, which of its pages."""

    chore: int = 0
    host_id: int = 0
    url_hash: bytes = b""


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a step did, and where the next one starts; None after the last."""

    counts: dict[str, int]
    next: RunPosition | None = None


Step = Callable[[Connection, RunPosition], Awaitable[StepResult]]


def repeated(name: str, chore: Callable[[Connection, int], Awaitable[int]], limit: int) -> Step:
    """A step that handles up to a limit at a time, until less is left; it counts under a name."""

    async def step(connection: Connection, place: RunPosition) -> StepResult:
        count = await chore(connection, limit)
        return StepResult({name: count}, place if count == limit else None)

    return step


def in_turn(*steps: Step) -> Step:
    """One step after another, each until it has nothing left."""

    async def step(connection: Connection, place: RunPosition) -> StepResult:
        done = await steps[place.chore](connection, place)
        if done.next is not None:
            return done
        after = place.chore + 1
        return StepResult(done.counts, RunPosition(after) if after < len(steps) else None)

    return step


@dataclass(frozen=True, slots=True)
class Orchestrator:
    """Scheduled work with a name."""

    name: str
    does: str
    cadence: str  # in UTC, unless overridden
    step: Step = field(compare=False)


@dataclass(frozen=True, slots=True)
class Reserved:
    """The name of one that this release does not provide."""

    name: str
    does: str
    cadence: str
    until: str


RESERVED = (
    Reserved(
        "O-SERP",
        "queries search engines for keywords whose tier is due, and for new ones",
        "30 * * * *",
        "needs a search engine: MESSOR_SEARCH_ENGINES",
    ),
)


class Registry:
    """The orchestrators of this installation, and reserved names."""

    def __init__(self, *orchestrators: Orchestrator) -> None:
        self._reserved = {reserved.name: reserved for reserved in RESERVED}
        self._orchestrators: dict[str, Orchestrator] = {}
        for orchestrator in orchestrators:
            self.register(orchestrator)

    def register(self, orchestrator: Orchestrator) -> None:
        """Add one; it replaces a reserved name."""
        if orchestrator.name in self._orchestrators:
            raise ConflictError(f"Orchestrator {orchestrator.name} is already registered.")
        self._reserved.pop(orchestrator.name, None)
        self._orchestrators[orchestrator.name] = orchestrator

    def __iter__(self) -> Iterator[Orchestrator]:
        return iter(self._orchestrators.values())

    @property
    def reserved(self) -> list[Reserved]:
        return list(self._reserved.values())

    def get(self, name: str) -> Orchestrator:
        """Find by name, case-insensitively, with or without its O."""
        wanted = name.strip().casefold().removeprefix("o-")
        for orchestrator in self:
            if orchestrator.name.casefold().removeprefix("o-") == wanted:
                return orchestrator
        for reserved in self._reserved.values():
            if reserved.name.casefold().removeprefix("o-") == wanted:
                raise ConflictError(f"{reserved.name} is not available: it {reserved.until}.")
        known = ", ".join(orchestrator.name for orchestrator in self)
        raise NotFoundError(f"There is no orchestrator {name!r}; choose from: {known}.")
