"""Exploring: one discovery session from its keywords to its candidates, top to bottom."""

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
    """What a session did."""

    session_id: UUID
    searches: dict[str, int]  # by what came of them
    paid_for: int  # searches that were made now
    pages: int  # that were judged, those of earlier searches included
    statistics: dict[str, Any]
    said: list[str]  # why searches brought no page, or not all of it, each sentence once


async def explore(
    database: Database, searcher: Searcher, applied: Applied, *, actor: str, limit: int = 100
) -> Explored:
    """Search for the keywords that are due, judge what is found, and keep it."""
    await serps.process_waiting(database)  # what was paid for and not looked into
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
        said = _said(found) if found or pages else "No keyword was due, and no page waited."
        await discovery.end(connection, session_id, stats, said=said)
    states: Counter[str] = Counter(one.state for one in found)
    return Explored(
        session_id,
        dict(states),
        sum(one.is_new for one in found),
        len(pages),
        stats.summary(),
        sorted({one.said for one in found if one.said}),
    )


def _said(found: Sequence[SearchOutcome]) -> str | None:
    """What a session says of searches without a page; None when all brought one."""
    missing = [one for one in found if one.state != "answered"]
    if not missing:
        return None
    return f"{len(missing)} of {len(found)} searches brought no page: {missing[0].said}"[:2000]


async def _search(
    database: Database, searcher: Searcher, wanted: Sequence[DueKeyword]
) -> list[SearchOutcome]:
    """A few at a time: engines ration, and each answer is kept before the next is asked for."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(item: DueKeyword) -> SearchOutcome:
        async with places:
            return await track.snapshot(database, searcher, item.wanted)

    return await asyncio.gather(*map(one, wanted))
