"""Deliveries of a webhook and their results, for display; and redelivery.

A delivery is a job. It keeps its event's id when sent again, so that a receiver can recognise a
duplicate.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from messor.core.ids import new_id
from messor.core.masking import mask_path, mask_text
from messor.errors import ConflictError, NotFoundError
from messor.jobs.jobs import enqueue
from messor.ledger.events import Event, record
from messor.ops.webhooks.dispatch import new_delivery
from messor.ops.webhooks.registry import Webhook
from messor.store.database import Connection, Database

MOST = 50

LISTING = """
SELECT j.id, j.state, j.attempts, j.max_attempts, j.created_at, j.available_at, j.finished_at,
       j.payload -> 'event' ->> 'type' AS event_type, j.payload -> 'event' ->> 'id' AS event_id,
       (j.result_json ->> 'status')::int AS status,
       coalesce(j.dead_reason, e.error_message, j.result_json ->> 'skipped') AS last_error
  FROM messor.jobs j
  LEFT JOIN LATERAL (SELECT error_message FROM messor.error_logs
                      WHERE job_id = j.id ORDER BY occurred_at DESC LIMIT 1) e ON true
 WHERE j.job_type = 'webhook' AND j.target_id = $1
   AND ($2::timestamptz IS NULL OR (j.created_at, j.id) < ($2, $3::uuid))
 ORDER BY j.created_at DESC, j.id DESC LIMIT $4
"""
FIND = """
SELECT state, payload::text AS payload FROM messor.jobs
 WHERE id = $1 AND job_type = 'webhook' AND target_id = $2 FOR UPDATE
"""
AGAIN = """
UPDATE messor.jobs SET state = 'queued', available_at = messor.clock(), finished_at = NULL,
       attempts = CASE WHEN state = 'dead' THEN 0 ELSE attempts END,
       dead_category = NULL, dead_type = NULL, dead_reason = NULL
 WHERE id = $1
"""

Before = tuple[datetime, UUID]


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event on its way to one webhook."""

    id: UUID  # of the job
    state: str
    attempts: int
    max_attempts: int
    created_at: datetime
    available_at: datetime
    finished_at: datetime | None
    event_type: str | None
    event_id: str | None
    status: int | None  # the receiver's status, once accepted
    last_error: str | None


async def listing(
    source: Connection | Database,
    webhook_id: UUID,
    *,
    before: Before | None = None,
    limit: int = MOST,
) -> list[Delivery]:
    """Newest first; `before` is (created_at, id) of the last one seen."""
    since, last = before or (None, None)
    rows = await source.fetch(LISTING, webhook_id, since, last, limit)
    return [_delivery(row) for row in rows]


def _delivery(row: Any) -> Delivery:
    error = row["last_error"]
    return Delivery(**{**row, "last_error": error and mask_text(error)})


async def redeliver(connection: Connection, webhook: Webhook, job_id: UUID, *, actor: str) -> UUID:
    """Send it again now; returns the job."""
    if not webhook.is_active:
        raise ConflictError("This webhook is paused; resume it before a redelivery.")
    row = await connection.fetchrow(FIND, job_id, webhook.id)
    if row is None:
        raise NotFoundError("Unknown delivery; it may be too old.")
    if row["state"] == "running":
        raise ConflictError("This delivery is in progress; try again when it has ended.")
    sending = await _again(connection, webhook, job_id, row["state"], row["payload"])
    data = {"webhook": str(webhook.id), "url": mask_path(webhook.url), "job": str(sending)}
    await record(connection, [Event("webhook.redelivered", actor, data=data)])
    return sending


async def _again(
    connection: Connection, webhook: Webhook, job_id: UUID, state: str, payload: str
) -> UUID:
    """What has not arrived is retried; what has, or was cancelled, becomes another job."""
    if state in ("queued", "dead"):
        await connection.execute(AGAIN, job_id)
        return job_id
    event: dict[str, Any] = msgspec.json.decode(payload)["event"]
    job = new_delivery(webhook.id, f"{event['id']}:{new_id()}", event)
    await enqueue(connection, [job])
    return job.id
