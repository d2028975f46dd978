"""Watches: made, changed, switched on and off, and removed; every act is an event.

A watch is made switched off, so that its owner sees first what it would have told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
from pydantic import ValidationError

from messor.access.secret import Secret, fingerprint, new_token
from messor.core.ids import new_id
from messor.errors import NotFoundError, UsageError
from messor.ledger.events import Event, record
from messor.mail.server import is_address
from messor.store.database import Connection, Database
from messor.store.listing import fault_of
from messor.watches.conditions import Condition, Noun
from messor.watches.nouns import check_filters

MAX_WATCHES = 20_000
Channel = Literal["mail", "webhook", "slack", "feed"]
Digest = Literal["at_once", "daily", "weekly"]

COLUMNS = """w.id, w.name, w.noun, w.filters::text AS filters, w.condition::text AS condition,
  w.channel, w.recipient, w.webhook_id, w.digest, w.zone, w.hour, w.quiet_from, w.quiet_to,
  w.is_active, w.active_since, w.created_by, w.created_at"""
ADD = f"""
INSERT INTO messor.watches AS w (id, name, noun, filters, condition, channel, recipient, webhook_id,
       token_hash, digest, zone, hour, quiet_from, quiet_to, created_by)
VALUES ($1, $2, $3, $4::jsonb, $5::jsonb, $6, $7, $8, $14, $9, $10, $11, $12, $13, $15)
RETURNING {COLUMNS}
"""
CHANGE = f"""
UPDATE messor.watches w
   SET name = $2, noun = $3, filters = $4::jsonb, condition = $5::jsonb, channel = $6, recipient = $7,
       webhook_id = $8, digest = $9, zone = $10, hour = $11, quiet_from = $12, quiet_to = $13
 WHERE w.id = $1 RETURNING {COLUMNS}
"""
GET = f"SELECT {COLUMNS} FROM messor.watches w WHERE w.id = $1"
OF_TOKEN = f"SELECT {COLUMNS} FROM messor.watches w WHERE w.token_hash = $1"
SWITCH = f"""
UPDATE messor.watches w SET is_active = $2,
       active_since = CASE WHEN NOT $2 THEN NULL WHEN w.is_active THEN w.active_since
                           ELSE messor.clock() END
 WHERE w.id = $1 RETURNING {COLUMNS}
"""
RENEW = "UPDATE messor.watches SET token_hash = $2 WHERE id = $1 RETURNING id"
REMOVE = "DELETE FROM messor.watches WHERE id = $1 RETURNING name"


@dataclass(frozen=True, slots=True)
class Watch:
    """What somebody wants to be told, when and how."""

    id: UUID
    name: str
    noun: Noun
    filters: dict[str, Any]
    condition: Condition
    channel: Channel
    recipient: str | None
    webhook_id: UUID | None
    digest: Digest
    zone: str
    hour: int
    quiet_from: int | None
    quiet_to: int | None
    is_active: bool
    active_since: datetime | None
    created_by: str
    created_at: datetime

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Watch:
        given = dict(row)
        given["filters"] = msgspec.json.decode(given["filters"])
        given["condition"] = Condition.model_validate_json(given["condition"])
        return cls(**given)


@dataclass(frozen=True, slots=True)
class NewWatch:
    """A watch to be made; values as they were typed."""

    name: str
    noun: Noun
    condition: Mapping[str, Any]
    filters: Mapping[str, Any] = field(default_factory=dict)
    channel: Channel = "feed"
    recipient: str | None = None
    webhook_id: UUID | None = None
    digest: Digest = "at_once"
    zone: str = "UTC"
    hour: int = 8
    quiet_from: int | None = None
    quiet_to: int | None = None


def condition_of(noun: Noun, given: Mapping[str, Any]) -> Condition:
    """A condition as it was typed; raises an error that says what is missing."""
    try:
        made = Condition.model_validate(
            {name: value for name, value in given.items() if value not in (None, "")}
        )
        made.check_noun(noun)
    except ValidationError as error:
        raise UsageError(fault_of(error)) from error
    except ValueError as error:
        raise UsageError(f"{error}.") from error
    return made


async def add(connection: Connection, wanted: NewWatch, *, actor: str) -> tuple[Watch, Secret]:
    """Make a watch, switched off; returns it with the token of its feed, which is not kept."""
    values = await _values(connection, wanted)
    if await connection.fetchval("SELECT count(*) FROM messor.watches") >= MAX_WATCHES:
        raise UsageError(f"There are already {MAX_WATCHES} watches; remove one first.")
    token = new_token()
    row = await connection.fetchrow(ADD, new_id(), *values, fingerprint(token.reveal()), actor)
    assert row is not None
    watch = Watch.of(row)
    await _record(connection, "watch.added", actor, watch)
    return watch, token


async def change(connection: Connection, watch_id: UUID, wanted: NewWatch, *, actor: str) -> Watch:
    """Change what a watch tells and how; its feed keeps its token, and its alerts stay."""
    row = await connection.fetchrow(CHANGE, watch_id, *await _values(connection, wanted))
    if row is None:
        raise NotFoundError("There is no such watch.")
    watch = Watch.of(row)
    await _record(connection, "watch.changed", actor, watch)
    return watch


async def _values(connection: Connection, wanted: NewWatch) -> tuple[Any, ...]:
    """The checked values of a watch's columns."""
    condition = condition_of(wanted.noun, wanted.condition)
    filters = check_filters(wanted.noun, wanted.filters)
    if wanted.noun == "ranks" and "domain" not in filters:
        raise UsageError("Name the domain whose ranks to watch.")
    await _check(connection, wanted)
    return (
        wanted.name.strip(),
        wanted.noun,
        msgspec.json.encode(filters).decode(),
        condition.model_dump_json(exclude_none=True),
        wanted.channel,
        wanted.recipient,
        wanted.webhook_id,
        wanted.digest,
        wanted.zone,
        wanted.hour,
        wanted.quiet_from,
        wanted.quiet_to,
    )


async def _check(connection: Connection, wanted: NewWatch) -> None:
    if not 1 <= len(wanted.name.strip()) <= 200:
        raise UsageError("Give the watch a name of at most 200 characters.")
    if (wanted.channel == "mail") != (wanted.recipient is not None) or (
        wanted.recipient is not None and not is_address(wanted.recipient)
    ):
        raise UsageError("A watch by mail needs a recipient such as ada@example.org; others none.")
    if (wanted.channel in ("webhook", "slack")) != (wanted.webhook_id is not None):
        raise UsageError("A watch by webhook or slack needs the id of a webhook; others none.")
    if wanted.webhook_id is not None and not await connection.fetchval(
        "SELECT EXISTS (SELECT FROM messor.webhooks WHERE id = $1)", wanted.webhook_id
    ):
        raise NotFoundError("There is no such webhook; list them with messor webhooks list.")
    try:
        ZoneInfo(wanted.zone)
    except (KeyError, ValueError, OSError) as error:
        raise UsageError(
            f"{wanted.zone[:60]!r} is not a time zone such as Europe/Berlin."
        ) from error
    hours = [wanted.hour, *(one for one in (wanted.quiet_from, wanted.quiet_to) if one is not None)]
    if not all(0 <= one <= 23 for one in hours) or (wanted.quiet_from is None) != (
        wanted.quiet_to is None
    ):
        raise UsageError("Hours are from 0 to 23; quiet hours need a start and an end.")


async def get(source: Connection | Database, watch_id: UUID) -> Watch:
    row = await source.fetchrow(GET, watch_id)
    if row is None:
        raise NotFoundError("There is no such watch.")
    return Watch.of(row)


async def of_token(source: Connection | Database, token: str) -> Watch:
    """The watch whose feed has this token."""
    row = await source.fetchrow(OF_TOKEN, fingerprint(token))
    if row is None:
        raise NotFoundError("There is no such feed; its token may have been replaced.")
    return Watch.of(row)


async def switch(connection: Connection, watch_id: UUID, *, on: bool, actor: str) -> Watch:
    """Switch a watch on, for what changes from now on, or off."""
    row = await connection.fetchrow(SWITCH, watch_id, on)
    if row is None:
        raise NotFoundError("There is no such watch.")
    watch = Watch.of(row)
    await _record(connection, "watch.switched_on" if on else "watch.switched_off", actor, watch)
    return watch


async def renew_token(connection: Connection, watch_id: UUID, *, actor: str) -> Secret:
    """Replace the token of a watch's feed."""
    token = new_token()
    if await connection.fetchval(RENEW, watch_id, fingerprint(token.reveal())) is None:
        raise NotFoundError("There is no such watch.")
    await _record(connection, "watch.token_renewed", actor, await get(connection, watch_id))
    return token


async def remove(connection: Connection, watch_id: UUID, *, actor: str) -> None:
    """Remove a watch and its alerts."""
    watch = await get(connection, watch_id)
    await connection.execute(REMOVE, watch_id)
    await _record(connection, "watch.removed", actor, watch)


async def _record(connection: Connection, kind: str, actor: str, watch: Watch) -> None:
    data = {
        "watch": str(watch.id),
        "name": watch.name,
        "noun": watch.noun,
        "channel": watch.channel,
    }
    await record(connection, [Event(kind, actor, data=data)])
