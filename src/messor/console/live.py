"""The overview's figures, cached and shared.

However many pages are open, each query runs at most once per refresh interval.
"""

from __future__ import annotations

from dataclasses import dataclass

from messor.access import members
from messor.core.fresh import Fresh
from messor.jobs import dead_groups
from messor.jobs import queries as job_queries
from messor.ledger.alarms import AlarmBoard, standing
from messor.ledger.queries import EVENTS, EventFilter, ListedEvent
from messor.ops import overview
from messor.ops.overview import NextRun, RequestRates, Risky, Visited, WaitingWork
from messor.politeness import traffic
from messor.store.database import Database
from messor.store.notifications import NotificationListener

SHOWN_EVENTS = 12


@dataclass(frozen=True, slots=True)
class LiveFigures:
    """Everything the overview shows."""

    rates: RequestRates
    waiting: WaitingWork
    visited: list[Visited]
    risky: list[Risky]
    next_runs: list[NextRun]
    events: list[ListedEvent]
    names: dict[str, str]  # of the events' actors


class LiveBoard:
    """Caches the figures of one installation."""

    def __init__(self, database: Database, alarms: AlarmBoard | None = None) -> None:
        self._database = database
        self._rates = Fresh(2.0, lambda: overview.rates(database))
        self._waiting = Fresh(1.0, lambda: overview.waiting(database))
        self._visited = Fresh(1.0, lambda: overview.visited(database))
        self._risky = Fresh(5.0, lambda: overview.risky(database))
        self._next = Fresh(5.0, lambda: overview.next_runs(database))
        self._events = Fresh(0.25, self._newest)
        self.halt = Fresh(0.5, lambda: traffic.in_force(database))  # shown on every page
        self.alarms = Fresh(5.0, lambda: standing(database, alarms))  # shown on every page
        self._notifications_seen = 0
        self.notifications = NotificationListener(database)
        self.jobs = Fresh(0.0, lambda: job_queries.stats(database), is_costly=job_queries.are_many)
        self.dead = Fresh(0.0, lambda: dead_groups.groups(database), is_costly=dead_groups.are_many)

    async def figures(self) -> LiveFigures:
        if self.notifications.rings != self._notifications_seen:  # new events were announced
            self._notifications_seen = self.notifications.rings
            self._events.spoil()
        events, names = await self._events.get()
        return LiveFigures(
            await self._rates.get(),
            await self._waiting.get(),
            await self._visited.get(),
            await self._risky.get(),
            await self._next.get(),
            events,
            names,
        )

    async def _newest(self) -> tuple[list[ListedEvent], dict[str, str]]:
        events = (await EVENTS.read(self._database, EventFilter(), limit=SHOWN_EVENTS)).items
        return events, await members.names(self._database, {event.actor for event in events})
