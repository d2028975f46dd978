"""Automatic judging: unjudged result pages become candidates in a session of their own.

Session, candidates and marks are one transaction: after an interruption the pages wait as before.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from messor.scout import discovery
from messor.scout.discovery import Discovery
from messor.scout.judges.panel import Panel
from messor.store.database import Connection
from messor.verticals.verticals import Applied


@dataclass(frozen=True, slots=True)
class JudgedPages:
    """The result; no session if no page waited."""

    pages: int = 0
    candidates: int = 0
    session_id: UUID | None = None


async def judge_waiting(
    connection: Connection, applied: Applied, *, actor: str, limit: int = 100
) -> JudgedPages:
    """Judge some of a vertical's waiting pages, oldest first."""
    await discovery.close_abandoned(connection, applied)
    pages = await discovery.claim_unjudged(connection, applied, limit)
    if not pages:
        return JudgedPages()
    session_id = await discovery.begin(connection, applied, actor=actor)
    work = Discovery(connection, applied, session_id, Panel(applied.vertical))
    stats = await work.process(await discovery.results_of(connection, pages))
    await discovery.mark_judged(connection, pages, session_id)
    await discovery.end(connection, session_id, stats)
    return JudgedPages(len(pages), stats.candidates_created, session_id)
