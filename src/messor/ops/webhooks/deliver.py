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
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from uuid import UUID

import msgspec
from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

from messor.core.masking import mask_path, mask_text
from messor.errors import UsageError
from messor.fetch.failures import words
from messor.fetch.guard import AddressGuard, GuardedResolver
from messor.fetch.proxies.seal import Seal, seal_for
from messor.fetch.tls import verifying_context
from messor.jobs.faults import JobError
from messor.jobs.handlers import Effects, Handlers, Result
from messor.jobs.jobs import Job
from messor.ledger.errors import Category
from messor.ledger.events import Event, record
from messor.ops.webhooks.dispatch import JOB_TYPE
from messor.ops.webhooks.registry import check_url
from messor.settings import Settings
from messor.store.database import Connection, Database

SECONDS = 15.0
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


class Refused(Exception):  # noqa: N818 - a finding, not an error of ours
    """The receiver did not accept it; `gone` if it wants no more."""

    def __init__(self, message: str, *, gone: bool = False, category: Category = "http") -> None:
        super().__init__(message)
        self.gone = gone
        self.category = category


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
        self._guard = AddressGuard(settings.allowed_networks)
        self._ca_file = settings.ca_file

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
            status = await self._send(row["url"], secret, str(order.event["id"]), body)
        except Refused as refused:
            await self._note(order.webhook, refused)
            raise JobError(
                str(refused), category=refused.category, retryable=not refused.gone
            ) from refused
        return partial(_succeed, order.webhook, status)

    async def _send(self, url: str, secret: str, event_id: str, body: bytes) -> int:
        headers = {"Content-Type": "application/json", **sign(secret, event_id, body)}
        try:
            target = check_url(url, self._guard)
            async with (
                self._session() as session,
                session.post(
                    target.href, data=body, headers=headers, allow_redirects=False
                ) as response,
            ):
                status = response.status
        except UsageError as error:
            raise Refused(str(error), category="validation") from error
        except (ClientError, OSError) as error:
            raise Refused(
                f"It could not be reached: {mask_text(words(error))}.", category="network"
            ) from error
        if not 200 <= status < 300:
            raise Refused(f"It returned {status}.", gone=status == 410)
        return status

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[ClientSession]:
        resolver = GuardedResolver(self._guard)
        connector = TCPConnector(
            resolver=resolver,
            socket_factory=self._guard.socket_factory,
            ssl=verifying_context(self._ca_file),
            force_close=True,
        )
        try:
            async with ClientSession(
                connector=connector,
                timeout=ClientTimeout(total=SECONDS),
                cookie_jar=DummyCookieJar(),
                trust_env=False,
                headers={"User-Agent": "Messor-Webhooks/1"},
            ) as session:
                yield session
        finally:
            await resolver.close()

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
