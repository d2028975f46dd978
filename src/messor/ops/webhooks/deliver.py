"""Delivery: the job that sends one event to one webhook.

Signed according to the Standard Webhooks specification: HMAC-SHA256 over id, time and body. The
address guard checks every connection, redirects are not followed, and little of a response is read.
A receiver distinguishes deliveries by `webhook-id`, which stays the same in retries.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import time
from functools import partial
from typing import Any
from uuid import UUID

import msgspec

from messor.core.masking import mask_path
from messor.fetch.proxies.seal import Seal, seal_for
from messor.jobs.faults import JobError
from messor.jobs.handlers import Effects, Handlers, Result
from messor.jobs.jobs import Job
from messor.ledger.events import Event, record
from messor.ops.webhooks.dispatch import JOB_TYPE
from messor.ops.webhooks.post import GuardedPost, Refused
from messor.settings import Settings
from messor.store.database import Connection, Database

MAX_CONSECUTIVE_FAILURES = 100  # consecutive failures that deactivate a webhook
ACTOR = "webhooks"

FIND = "SELECT url, secret FROM messor.webhooks WHERE id = $1 AND is_active"
SUCCEED = """
UPDATE messor.webhooks SET successes = successes + 1, failure_count = 0,
       last_success_at = messor.clock() WHERE id = $1
"""
FAIL = """
UPDATE messor.webhooks SET failures = failures + 1, failure_count = failure_count + 1,
       last_failure_at = messor.clock(), last_error = left($2, 500),
       is_active = is_active AND failure_count + 1 < $3 AND NOT $4
 WHERE id = $1 RETURNING url, is_active
"""


class DeliveryRequest(msgspec.Struct):
    """The job's payload."""

    webhook: UUID
    event: dict[str, Any]


def register(handlers: Handlers, settings: Settings, database: Database) -> None:
    """Register the job's handler in a process."""
    courier = WebhookSender(settings, database)

    @handlers.prepares(JOB_TYPE)
    async def deliver(job: Job) -> Effects:
        return await courier.deliver(msgspec.convert(job.payload, DeliveryRequest))


class WebhookSender:
    """Sends events to webhooks, each with its own signature."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._database = database
        self._seal: Seal = seal_for(settings)
        self._post = GuardedPost(settings)

    async def deliver(self, order: DeliveryRequest) -> Effects:
        """Send it; returns the job's effects, raises if it is to be retried."""
        row = await self._database.fetchrow(FIND, order.webhook)
        if row is None:
            return _nothing
        body = msgspec.json.encode(order.event)
        try:
            secret = await asyncio.to_thread(
                self._seal.open, bytes(row["secret"]), str(order.webhook)
            )
            status = await self._post.send(
                row["url"], body, sign(secret, str(order.event["id"]), body)
            )
        except Refused as refused:
            await self._note(order.webhook, refused)
            raise JobError(
                str(refused), category=refused.category, retryable=not refused.gone
            ) from refused
        return partial(_succeed, order.webhook, status)

    async def _note(self, webhook_id: UUID, refused: Refused) -> None:
        """Store a failure whatever becomes of the job."""
        async with self._database.transaction() as connection:
            row = await connection.fetchrow(
                FAIL, webhook_id, str(refused), MAX_CONSECUTIVE_FAILURES, refused.gone
            )
            if row is not None and not row["is_active"]:
                data = {
                    "webhook": str(webhook_id),
                    "url": mask_path(row["url"]),
                    "reason": str(refused),
                }
                await record(connection, [Event("webhook.disabled", ACTOR, data=data)])


def sign(secret: str, event_id: str, body: bytes, *, at: int | None = None) -> dict[str, str]:
    """The headers that prove sender and time."""
    moment = int(time.time()) if at is None else at
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{event_id}.{moment}.".encode() + body
    digest = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(moment),
        "webhook-signature": f"v1,{digest}",
    }


async def _nothing(_: Connection) -> Result:
    return {"skipped": "the webhook is inactive or removed"}


async def _succeed(webhook_id: UUID, status: int, connection: Connection) -> Result:
    await connection.execute(SUCCEED, webhook_id)
    return {"status": status}
