"""Exploration: one discovery session from its keywords to its candidates, top to bottom."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from messor.scout import discovery, serps, track
from messor.scout.discovery import Discovery
from messor.scout.judges.panel import Panel
from messor.scout.search import Searcher, SearchOutcome
from messor.scout.track import DueKeyword
from messor.store.database import Database
from messor.verticals.verticals import Applied

AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Explored:
    """The result of a session."""

    session_id: UUID
    searches: dict[str, int]  # by result
    paid_for: int  # searches made now
    pages: int  # judged, those of earlier searches included
    statistics: dict[str, Any]
    messages: list[str]  # why searches returned no page, or an incomplete one; each message once


async def explore(
    database: Database, searcher: Searcher, applied: Applied, *, actor: str, limit: int = 100
) -> Explored:
    """Search for the due keywords, judge the results, and store them."""
    await serps.process_waiting(database)  # paid for but not judged yet
    wanted = await track.due(database, applied.id, limit)
    async with database.transaction() as connection:
        await discovery.close_abandoned(connection, applied)
        session_id = await discovery.begin(connection, applied, actor=actor)
    found = await _search(database, searcher, wanted)
    pages = await discovery.unjudged(database, applied)
    results = await discovery.results_of(database, pages)
    work = Discovery(database, applied, session_id, Panel(applied.vertical))
    stats = await work.process(results)
    async with database.transaction() as connection:
        await discovery.mark_judged(connection, pages, session_id)
        message = (
            _said(found) if found or pages else "No keyword is due, and no page awaits judgement."
        )
        await discovery.end(connection, session_id, stats, message=message)
    states: Counter[str] = Counter(one.state for one in found)
    return Explored(
        session_id,
        dict(states),
        sum(one.is_new for one in found),
        len(pages),
        stats.summary(),
        sorted({one.message for one in found if one.message}),
    )


def _said(found: Sequence[SearchOutcome]) -> str | None:
    """Message about searches without a page; None if all returned one."""
    missing = [one for one in found if one.state != "answered"]
    if not missing:
        return None
    return f"{len(missing)} of {len(found)} searches returned no page: {missing[0].message}"[:2000]


async def _search(
    database: Database, searcher: Searcher, wanted: Sequence[DueKeyword]
) -> list[SearchOutcome]:
    """A few at a time: engines limit rates, and each response is stored before the next request."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(item: DueKeyword) -> SearchOutcome:
        async with places:
            return await track.snapshot(database, searcher, item.wanted)

    return await asyncio.gather(*map(one, wanted))
