"""Webhooks of scrape jobs: what a caller wants to be told, and the deliveries that tell it.

A delivery is a job of its own, made in the transaction of what it tells. It names pages instead of
holding them, so that what was erased or withdrawn meanwhile does not leave. Where it is sent, and
how, is in `ops.webhooks.scrape_jobs`.
"""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec

from messor.errors import UsageError
from messor.fetch.proxies.seal import Seal
from messor.jobs.jobs import NewJob, enqueue
from messor.store.database import Connection

JOB_TYPE = "scrape_webhook"
ATTEMPTS = 4  # the first one, and after 1, 5 and 15 minutes
EVENTS = frozenset({"started", "page", "completed", "failed"})
NAMES = {"crawl": "crawl", "batch": "batch_scrape", "extract": "extract", "monitor": "monitor"}
MOST_HEADERS = 20
LONGEST = 2_000
# Headers that say what is sent, or who sends it.
_OURS = re.compile(r"(?i)(host|content-.*|transfer-encoding|connection|x-firecrawl-.*|user-agent)")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")

# A key that was revoked tells nothing more.
SIGNED_BY = """
SELECT s.secret FROM messor.hook_secrets s JOIN messor.api_keys k ON k.id = s.key_id
 WHERE s.key_id = $1 AND k.revoked_at IS NULL
"""
SIGN_BY = """
INSERT INTO messor.hook_secrets AS s (key_id, secret) VALUES ($1, $2)
ON CONFLICT (key_id) DO UPDATE
   SET secret = CASE WHEN $3 THEN excluded.secret ELSE s.secret END,
       made_at = CASE WHEN $3 THEN messor.clock() ELSE s.made_at END
RETURNING secret
"""
UNTOLD = """
UPDATE messor.scrape_job_pages SET is_told = true
 WHERE job_id = $1 AND done_at IS NOT NULL AND NOT is_told
RETURNING id, snapshot_id, url, code, error
"""


class JobHook(msgspec.Struct, frozen=True):
    """Where and how a caller wants to be told of a job."""

    url: str
    key_id: UUID  # whose secret signs
    base: str  # of links to this server
    headers: dict[str, str] = {}
    metadata: dict[str, Any] = {}
    events: list[str] = []  # empty: all
    uses: list[str] = []  # what the key declares to do with what it reads

    def wants(self, event: str) -> bool:
        return not self.events or event in self.events

    def sealed(self, seal: Seal, owner: UUID) -> SealedHook:
        return SealedHook(owner, seal.close(msgspec.json.encode(self).decode(), str(owner)))


@dataclass(frozen=True, slots=True)
class SealedHook:
    """A hook as it is stored, bound to the job that is to be made."""

    job_id: UUID
    sealed: bytes


class HookEvent(msgspec.Struct):
    """The payload of a delivery."""

    job: UUID  # the scrape job or monitor whose hook it is
    type: str
    table: str = "scrape_jobs"
    snapshots: list[int] = []
    error: str | None = None
    data: list[Any] | None = None  # instead of snapshots


def check_hook(hook: JobHook) -> None:
    """Raise for a webhook that cannot be told; its address is checked by `ops.webhooks`."""
    unknown = sorted(set(hook.events) - EVENTS)
    if unknown:
        known = ", ".join(sorted(EVENTS))
        raise UsageError(f"webhook.events: {unknown[0][:50]!r} is none of {known}.")
    if len(hook.headers) > MOST_HEADERS:
        raise UsageError(f"webhook.headers: at most {MOST_HEADERS}.")
    for name, value in hook.headers.items():
        if not _HEADER.fullmatch(name) or _OURS.fullmatch(name):
            raise UsageError(f"webhook.headers: {name[:50]!r} cannot be set.")
        if len(value) > LONGEST or not value.isprintable():
            raise UsageError(f"webhook.headers: the value of {name} has to be one printable line.")
    if len(msgspec.json.encode(hook.metadata)) > LONGEST:
        raise UsageError(f"webhook.metadata: at most {LONGEST} bytes.")


def opened(seal: Seal, sealed: bytes, owner: UUID) -> JobHook:
    return msgspec.json.decode(seal.open(sealed, str(owner)), type=JobHook)


async def secret_of(
    connection: Connection, seal: Seal, key_id: UUID, *, renew: bool = False
) -> str:
    """What signs the webhooks of a key's jobs; made when it is first needed."""
    made = f"whsec_{base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip('=')}"
    sealed = await connection.fetchval(SIGN_BY, key_id, seal.close(made, str(key_id)), renew)
    return seal.open(bytes(sealed), str(key_id))


def telling(what: str, told: HookEvent) -> NewJob:
    """The delivery of one event; `what` distinguishes it from the others of its job."""
    return NewJob(
        JOB_TYPE,
        f"{JOB_TYPE}:{told.job}:{what}",
        JOB_TYPE,
        target_id=told.job,
        payload=msgspec.to_builtins(told),
        max_attempts=ATTEMPTS,
    )


async def tell(
    connection: Connection, job_id: UUID, kind: str, event: str, error: str | None = None
) -> None:
    """Have the start or the end of a job told."""
    told = HookEvent(job_id, f"{NAMES[kind]}.{event}", error=error)
    await enqueue(connection, [telling(event, told)])


async def tell_pages(connection: Connection, job_id: UUID, kind: str) -> int:
    """Have the pages told that were done since the last call; returns how many."""
    rows: Sequence[Mapping[str, Any]] = await connection.fetch(UNTOLD, job_id)
    name = f"{NAMES[kind]}.page"
    deliveries = []
    for row in rows:
        snapshots = [] if row["snapshot_id"] is None else [row["snapshot_id"]]
        error = None if row["code"] is None else f"{row['code']}: {row['error']} ({row['url']})"
        told = HookEvent(job_id, name, "scrape_jobs", snapshots, error)
        deliveries.append(telling(f"page:{row['id']}", told))
    await enqueue(connection, deliveries)
    return len(rows)


async def tell_end(
    connection: Connection, job_id: UUID, kind: str, event: str, error: str | None = None
) -> None:
    """Have the last pages and the end of a job told."""
    await tell_pages(connection, job_id, kind)
    await tell(connection, job_id, kind, event, error)


async def tell_result(connection: Connection, job_id: UUID, data: list[Any]) -> None:
    """Have the result of an extraction told."""
    told = HookEvent(job_id, "extract.completed", data=data)
    await enqueue(connection, [telling("completed", told)])
