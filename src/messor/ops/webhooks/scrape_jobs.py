"""Deliveries of scrape jobs and monitors, as Firecrawl's receivers expect them.

The body is made when it is sent: pages that were erased, or may not leave, are not in it. Signed
with HMAC-SHA256 over the raw body, in `X-Firecrawl-Signature`.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from functools import partial
from typing import Any

import msgspec

from messor.fetch.proxies.seal import seal_for
from messor.jobs.faults import JobError
from messor.jobs.handlers import Effects, Handlers, Result
from messor.jobs.jobs import Job
from messor.jobs.outcomes import Backoff
from messor.ops.webhooks.post import GuardedPost, Refused
from messor.rights.release import Purpose, release
from messor.rights.uses import ApprovedUse
from messor.scrape import archived, documents, hooks
from messor.scrape.documents import DocumentMaker, Shape
from messor.scrape.hooks import HookEvent, JobHook
from messor.scrape.shown import shown
from messor.settings import Settings
from messor.store.database import Connection, Database

SECONDS = 10.0
RETRIES = Backoff(steps=(60.0, 300.0, 900.0))
SIGNATURE = "X-Firecrawl-Signature"

# Of a monitor: how its targets are shown is in its checks' jobs; a page is told without content.
FIND = {
    "scrape_jobs": "SELECT hook, options::text AS options FROM messor.scrape_jobs WHERE id = $1",
    "monitors": "SELECT hook, '{}' AS options FROM messor.monitors WHERE id = $1",
}


def register(handlers: Handlers, settings: Settings, database: Database) -> None:
    """Register the job's handler in a process."""
    courier = JobCourier(settings, database)

    @handlers.prepares(hooks.JOB_TYPE)
    async def deliver(job: Job) -> Effects:
        return await courier.deliver(job, msgspec.convert(job.payload, HookEvent))


class JobCourier:
    """Tells receivers of jobs."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._database = database
        self._seal = seal_for(settings)
        self._maker = DocumentMaker(settings, database)
        self._post = GuardedPost(settings, seconds=SECONDS)

    async def deliver(self, job: Job, told: HookEvent) -> Effects:
        """Send it; returns the job's effects, raises if it is to be retried."""
        row = await self._database.fetchrow(FIND[told.table], told.job)
        if row is None or row["hook"] is None:
            return _nothing
        hook = await asyncio.to_thread(hooks.opened, self._seal, bytes(row["hook"]), told.job)
        sealed = await self._database.fetchval(hooks.SIGNED_BY, hook.key_id)
        if sealed is None or not hook.wants(told.type.rpartition(".")[2]):
            return _nothing  # its key was removed, or this event was not asked for
        body = msgspec.json.encode(await self._body(job, told, hook, row["options"]))
        secret = await asyncio.to_thread(self._seal.open, bytes(sealed), str(hook.key_id))
        try:
            status = await self._post.send(hook.url, body, {**hook.headers, **sign(secret, body)})
        except Refused as refused:
            raise JobError(
                str(refused),
                category=refused.category,
                retryable=not refused.gone,
                backoff=RETRIES,
            ) from refused
        return partial(_succeed, status)

    async def _body(self, job: Job, told: HookEvent, hook: JobHook, options: str) -> dict[str, Any]:
        data = told.data
        if data is None:
            data = await self._documents(told, hook, documents.decoded(options))
        body = {
            "success": told.error is None,
            "type": told.type,
            "id": str(told.job),
            "webhookId": str(job.id),
            "data": data,
            "metadata": hook.metadata,
        }
        return body if told.error is None else {**body, "error": told.error}

    async def _documents(
        self, told: HookEvent, hook: JobHook, shape: Shape
    ) -> list[dict[str, Any]]:
        if not told.snapshots:
            return []
        pages = await archived.by_ids(self._database, told.snapshots)
        uses = [ApprovedUse(name) for name in hook.uses]
        passed = await release(
            self._database, Purpose.AGENT, pages, lambda page: page.page_id, uses
        )
        return [
            shown(await self._maker.make(page, shape, is_one_of_many=True), hook.base)
            for page in passed
        ]


def sign(secret: str, body: bytes) -> dict[str, str]:
    """The header that proves the sender."""
    return {SIGNATURE: f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"}


async def _nothing(_: Connection) -> Result:
    return {"skipped": "nobody is to be told"}


async def _succeed(status: int, _: Connection) -> Result:
    return {"status": status}
