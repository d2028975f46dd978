"""The registry of webhooks: URLs, event types and delivery statistics.

Secrets are stored encrypted and leave only when created, and for signing.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address
from uuid import UUID

from messor.core.ids import new_id
from messor.core.masking import mask_path
from messor.errors import NotFoundError, UsageError
from messor.fetch.guard import AddressGuard
from messor.fetch.proxies.seal import Seal
from messor.ledger import queries
from messor.ledger.event_types import EVENT_TYPES
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database
from messor.web.suffixes import is_ip_literal
from messor.web.urls import Url, parse

MAX_WEBHOOKS = 100  # per installation
MAX_TYPES = 50
LONGEST_URL = 2_000

COLUMNS = """id, url, types, is_active, successes, failures, failure_count, last_success_at,
  last_failure_at, last_error, created_by, created_at"""

ADD = f"""
INSERT INTO messor.webhooks (id, url, types, secret, tx, event_id, created_by)
VALUES ($1, $2, $3, $4, $5::text::xid8, $6, $7) RETURNING {COLUMNS}
"""
LISTING = f"SELECT {COLUMNS} FROM messor.webhooks ORDER BY created_at, id LIMIT $1"
GET = f"SELECT {COLUMNS} FROM messor.webhooks WHERE id = $1"
# A reactivated webhook receives events from now on, not those it missed.
CHANGE = f"""
UPDATE messor.webhooks SET types = coalesce($2::text[], types), is_active = coalesce($3, is_active),
       failure_count = CASE WHEN $3 THEN 0 ELSE failure_count END,
       tx = CASE WHEN $3 AND NOT is_active THEN $4::text::xid8 ELSE tx END,
       event_id = CASE WHEN $3 AND NOT is_active THEN $5 ELSE event_id END
 WHERE id = $1 RETURNING {COLUMNS}
"""
REMOVE = "DELETE FROM messor.webhooks WHERE id = $1 RETURNING id"


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook without its secret."""

    id: UUID
    url: str
    types: list[str]  # empty: every type
    is_active: bool
    successes: int
    failures: int
    failure_count: int  # consecutive
    last_success_at: datetime | None
    last_failure_at: datetime | None
    last_error: str | None
    created_by: str
    created_at: datetime


def check_url(text: str, guard: AddressGuard) -> Url:
    """A URL that events may be sent to; raises an error otherwise."""
    url = parse(text.strip())
    has_login = "@" in text.partition("://")[2].partition("/")[0]
    if url is None or len(text) > LONGEST_URL or has_login:
        raise UsageError("Give the URL of a webhook such as https://example.org/hook.")
    refusal = guard.refusal_of_url(url)
    if refusal is not None:
        raise UsageError(f"Events may not be sent to this URL: {refusal}.")
    if url.scheme != "https" and not _is_opened(url, guard):
        raise UsageError("A webhook must use https.")
    return url


def _is_opened(url: Url, guard: AddressGuard) -> bool:
    """Whether the operator listed this address in `allowed_networks`."""
    if f"{url.host}:{url.port}" in guard.names:
        return True
    if not is_ip_literal(url.host):
        return False
    address = ip_address(url.host.strip("[]"))
    return not address.is_global and guard.refusal(address, url.port) is None


def check_types(types: Sequence[str]) -> list[str]:
    unknown = next((each for each in types if each not in EVENT_TYPES), None)
    if len(types) > MAX_TYPES or unknown is not None:
        wrong = "" if unknown is None else f" There is no event type {unknown[:60]!r}."
        raise UsageError(f"Name at most {MAX_TYPES} event types, such as domain.approved.{wrong}")
    return sorted(set(types))


async def add(
    connection: Connection,
    seal: Seal,
    guard: AddressGuard,
    *,
    url: str,
    types: Sequence[str],
    actor: str,
) -> tuple[Webhook, str]:
    """Add a webhook that receives events from now on; returns it with its secret."""
    target, wanted = check_url(url, guard), check_types(types)
    if await connection.fetchval("SELECT count(*) FROM messor.webhooks") >= MAX_WEBHOOKS:
        raise UsageError(f"There are already {MAX_WEBHOOKS} webhooks; remove one first.")
    webhook_id, now = new_id(), await queries.newest(connection)
    secret = f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"
    sealed = seal.close(secret, str(webhook_id))
    row = await connection.fetchrow(
        ADD, webhook_id, target.href, wanted, sealed, now.value, int(now.key), actor
    )
    assert row is not None
    made = Webhook(**row)
    await _record_event(connection, "webhook.added", actor, made)
    return made, secret


async def listing(source: Connection | Database) -> list[Webhook]:
    return [Webhook(**row) for row in await source.fetch(LISTING, MAX_WEBHOOKS)]


async def get(source: Connection | Database, webhook_id: UUID) -> Webhook:
    row = await source.fetchrow(GET, webhook_id)
    if row is None:
        raise NotFoundError(f"Unknown webhook {webhook_id}.")
    return Webhook(**row)


async def change(
    connection: Connection,
    webhook_id: UUID,
    *,
    types: Sequence[str] | None = None,
    is_active: bool | None = None,
    actor: str,
) -> Webhook:
    """Change the types, deactivate or reactivate."""
    wanted = None if types is None else check_types(types)
    now = await queries.newest(connection)
    row = await connection.fetchrow(CHANGE, webhook_id, wanted, is_active, now.value, int(now.key))
    if row is None:
        raise NotFoundError(f"Unknown webhook {webhook_id}.")
    changed = Webhook(**row)
    await _record_event(connection, "webhook.changed", actor, changed)
    return changed


async def remove(connection: Connection, webhook_id: UUID, *, actor: str) -> None:
    found = await get(connection, webhook_id)
    await connection.execute(REMOVE, webhook_id)
    await _record_event(connection, "webhook.removed", actor, found)


async def _record_event(connection: Connection, kind: str, actor: str, webhook: Webhook) -> None:
    data = {
        "webhook": str(webhook.id),
        "url": mask_path(webhook.url),
        "is_active": webhook.is_active,
    }
    await record(connection, [Event(kind, actor, data=data)])
