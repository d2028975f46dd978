"""The visibility overview of a vertical: figures summed over all result pages of a window.

Over many result pages this takes long, so the figures are kept for some minutes and refreshed in
the background; over few they are always computed anew.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from messor.core.fresh import Fresh
from messor.insight import trends, visibility
from messor.insight.visibility import Moved, TimeSpan, Visibility
from messor.scout import serp_queries
from messor.store.database import Database
from messor.verticals.verticals import Applied

SHOWN = 20  # domains and movers
DRAWN = 5  # domains of the chart
MANY = 2_000  # result pages of a window that are not summed for every request
KEPT_SECONDS = 600.0

Key = tuple[UUID, int, int]


@dataclass(frozen=True, slots=True)
class VisibilityOverview:
    """The most visible domains of a window, gains and losses, and pages by outcome."""

    window: TimeSpan
    tally: dict[str, int]
    seen: list[Visibility]
    all_seen: int
    moved: list[Moved]
    spans: list[TimeSpan]
    drawn: dict[str, list[float | None]]

    @property
    def is_costly(self) -> bool:
        return sum(self.tally.values()) > MANY


class VisibilityOverviews:
    """The overviews that were asked for lately."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[Key, tuple[float, Fresh[VisibilityOverview]]] = {}

    async def get(self, applied: Applied, days: int) -> VisibilityOverview:
        now = time.monotonic()
        self._known = {key: one for key, one in self._known.items() if now - one[0] < KEPT_SECONDS}
        key = (applied.id, applied.vertical.version, days)
        _, fresh = self._known.setdefault(key, (now, self._fresh(applied, days)))
        return await fresh.get()

    def _fresh(self, applied: Applied, days: int) -> Fresh[VisibilityOverview]:
        async def fetch() -> VisibilityOverview:
            return await _overview(self._database, applied, timedelta(days=days))

        return Fresh(0.0, fetch, is_costly=lambda one: one.is_costly)


async def _overview(database: Database, applied: Applied, length: timedelta) -> VisibilityOverview:
    async with database.transaction() as connection:
        window = await visibility.last_window(connection, length)
        tally = await serp_queries.tally(connection, applied, window.since, window.until)
        seen = await visibility.of_domains(connection, applied, window)
        moved = await visibility.movers(connection, applied, window, limit=SHOWN)
        spans = trends.spans(window.until, length=min(length, timedelta(days=28)))
        leaders = [one.name for one in seen[:DRAWN]]
        drawn = await trends.visibility(connection, applied, spans, leaders)
    return VisibilityOverview(window, tally, seen[:SHOWN], len(seen), moved, spans, drawn)
