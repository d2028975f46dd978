"""Dispatch: turns events into jobs, exactly one for each subscribed webhook.

A webhook's position in the ledger and the jobs up to it change in one transaction, so nothing is
lost or duplicated however many dispatchers run.
"""

from __future__ import annotations

import asyncio
from operator import attrgetter
from typing import Any
from uuid import UUID

from messor.core.heartbeat import Heartbeat
from messor.core.ids import new_id
from messor.core.logs import room_logger
from messor.errors import ConflictError
from messor.jobs.jobs import NewJob, enqueue
from messor.ledger.queries import EVENTS, EventFilter, ListedEvent
from messor.ops.webhooks.registry import Webhook
from messor.rights.release import Purpose, release
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Connection, Database
from messor.store.listing import Position

logger = room_logger(__name__)

JOB_TYPE = "webhook"
ATTEMPTS = 12  # over about four hours
BATCH = 200
LOOK_SECONDS = 1.0

TAKE = """
SELECT id, types, tx::text::bigint AS tx, event_id FROM messor.webhooks
 WHERE is_active AND id = $1 FOR UPDATE SKIP LOCKED
"""
ACTIVE = "SELECT id FROM messor.webhooks WHERE is_active ORDER BY id"
ADVANCE = "UPDATE messor.webhooks SET tx = $2::text::xid8, event_id = $3 WHERE id = $1"


async def dispatch(database: Database) -> int:
    """Create jobs for events since the last call; returns how many."""
    made = 0
    for row in await database.fetch(ACTIVE):
        async with database.transaction() as connection:
            made += await _dispatch_one(connection, row["id"])
    return made


async def _dispatch_one(connection: Connection, webhook_id: UUID) -> int:
    row = await connection.fetchrow(TAKE, webhook_id)
    if row is None:  # another dispatcher has it
        return 0
    wanted = EventFilter(type=",".join(row["types"]) or None, with_audit=True)
    after = Position(str(row["tx"]), str(row["event_id"]))
    found, reached = await EVENTS.select(connection, wanted, "committed", after, BATCH)
    reached = reached or (found[-1].position if found else None)
    if reached is None:
        return 0
    leaving = await release(connection, Purpose.WEBHOOK, found, attrgetter("page_id"))
    await enqueue(connection, [_job(row["id"], event) for event in leaving])
    await connection.execute(ADVANCE, row["id"], reached.value, int(reached.key))
    return len(leaving)


def _job(webhook_id: UUID, event: ListedEvent) -> NewJob:
    message = {
        "id": f"evt_{event.id}",
        "type": event.type,
        "occurred_at": event.occurred_at.isoformat(),
        "actor": event.actor,
        "domain_id": None if event.domain_id is None else str(event.domain_id),
        "page_id": event.page_id,
        "data": event.data,
    }
    return new_delivery(webhook_id, event.id, message)


def new_delivery(webhook_id: UUID, what: str, told: dict[str, Any]) -> NewJob:
    """The job that sends an event to a webhook.

    `what` distinguishes it from its other deliveries.
    """
    return NewJob(
        JOB_TYPE,
        f"{JOB_TYPE}:{webhook_id}:{what}",
        "webhook",
        target_id=webhook_id,
        payload={"webhook": str(webhook_id), "event": told},
        max_attempts=ATTEMPTS,
    )


async def ping(connection: Connection, webhook: Webhook, *, actor: str) -> NewJob:
    """Send a test event of type webhook.ping to this webhook alone."""
    if not webhook.is_active:
        raise ConflictError("This webhook is inactive; activate it before a test.")
    trial = new_id()
    now: Any = await connection.fetchval("SELECT messor.clock()")
    message = {
        "id": f"evt_ping-{trial}",
        "type": "webhook.ping",
        "occurred_at": now.isoformat(),
        "actor": actor,
        "domain_id": None,
        "page_id": None,
        "data": {},
    }
    job = new_delivery(webhook.id, f"ping:{trial}", message)
    await enqueue(connection, [job])
    return job


class Dispatcher:
    """Polls for events as long as it runs; any number may, in any process."""

    def __init__(self, database: Database, *, look_seconds: float = LOOK_SECONDS) -> None:
        self._database = database
        self._look_seconds = look_seconds
        self._stop = asyncio.Event()
        self.heartbeat = Heartbeat()

    def stop(self) -> None:
        self._stop.set()

    async def run(self) -> None:
        while not self._stop.is_set():
            self.heartbeat.beat("dispatching events")
            made = 0
            try:
                made = await dispatch(self._database)
            except (*LOST_CONNECTION, *TRY_AGAIN) as error:
                logger.warning("Webhooks wait for the database: %s", type(error).__name__)
            if made:
                continue
            try:
                await asyncio.wait_for(self._stop.wait(), self._look_seconds)
            except TimeoutError:
                continue
