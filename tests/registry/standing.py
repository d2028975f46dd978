"""Domains brought to where a test needs them, and what was recorded on the way."""

from __future__ import annotations

from typing import Any

from messor.ledger.queries import START, ListedEvent
from messor.registry import domains
from messor.registry.domains import Domain
from messor.store.database import Database
from tests.crawling import TESTER, submit
from tests.recorded import read_after

PATHS = {  # how a domain gets to each status
    "pending_review": (),
    "approved": ("approved",),
    "rejected": ("rejected",),
    "suspended": ("approved", "suspended"),
    "blacklisted": ("blacklisted",),
}

# What the table demands of each state of processing.
STATES = {
    "discovered": "",
    "processing": "",
    "processed_high_quality": ", high_quality_candidate_count = 1",
    "processed_low_quality": ", low_quality_candidate_count = 3",
    "no_funds_this_year": ", no_funds_year = 2026",
    "processing_failed": ", failure_reason = 'gone', failure_count = 1, retry_after = messor.clock()",
}


async def at_status(database: Database, status: str, name: str = "example.org") -> Domain:
    domain = await submit(database, name)
    for step in PATHS[status]:
        async with database.transaction() as connection:
            domain = await domains.move(connection, domain, step, actor=TESTER, reason="because")
    return domain


async def at_processing(database: Database, state: str, name: str = "example.org") -> Domain:
    domain = await submit(database, name)
    await database.fetch(
        f"UPDATE messor.domains SET processing = $2 {STATES[state]} WHERE id = $1", domain.id, state
    )
    return await domains.get(database, name)


async def events(database: Database) -> list[ListedEvent]:
    return await read_after(database, START)


async def event_types(database: Database) -> list[str]:
    return [event.type for event in await events(database)]


async def only(database: Database, sql: str, *args: Any) -> Any:
    return await database.fetchval(sql, *args)
