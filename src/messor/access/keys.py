"""API keys: the credentials of programs.

A key has the form `messor_PREFIX_SECRET`. It belongs to a member and may do at most what that
member's role currently allows. It is shown once; the prefix finds its row, the hash of the whole
key proves it.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self
from uuid import UUID

import asyncpg

from messor.access import last_used, typed_text
from messor.access.errors import BadKeyError, ForbiddenError
from messor.access.members import Member
from messor.access.origin import Origin
from messor.access.principal import Principal, authorise, authorise_for
from messor.access.roles import Act, Role, key_acts_of
from messor.access.secret import Secret, fingerprint, new_token
from messor.core.ids import new_id
from messor.errors import ConflictError, NotFoundError, UsageError
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database

USUAL_DAYS = 90
MOST_DAYS = 366
_SHAPE = re.compile(r"messor_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")

COLUMNS = """k.id, k.member_id, m.email AS member, k.name, k.prefix, k.scopes, k.created_by,
  k.created_at, k.expires_at, k.last_used_at, k.last_used_address, k.revoked_at, k.revoked_by, k.uses,
  m.disabled_at IS NULL AND k.revoked_at IS NULL AND k.expires_at > (SELECT messor.clock())
    AS is_good"""

INSERT = f"""
WITH k AS (
  INSERT INTO messor.api_keys (id, member_id, name, prefix, secret_hash, scopes, created_by,
                               created_at, expires_at, uses)
  SELECT $1, $2, $3, $4, $5, $6, $7, now, now + $8::interval, $9
    FROM (SELECT messor.clock() AS now) moment
  RETURNING *
)
SELECT {COLUMNS} FROM k JOIN messor.members m ON m.id = k.member_id
"""

LISTING = f"""
SELECT {COLUMNS} FROM messor.api_keys k JOIN messor.members m ON m.id = k.member_id
 WHERE $1::uuid IS NULL OR k.member_id = $1 ORDER BY k.created_at DESC, k.id LIMIT $2
"""

FIND = f"""
SELECT {COLUMNS} FROM messor.api_keys k JOIN messor.members m ON m.id = k.member_id
 WHERE k.id = $1 OR k.prefix = $2
"""

REVOKE = """
UPDATE messor.api_keys SET revoked_at = (SELECT messor.clock()), revoked_by = $2
 WHERE id = $1 AND revoked_at IS NULL RETURNING id
"""

FOUND = """
WITH found AS (
  SELECT k.id, k.member_id, k.secret_hash, k.scopes, k.last_used_at, k.expires_at, k.revoked_at,
         m.name, m.role, m.disabled_at, k.uses, k.expires_at <= (SELECT messor.clock()) AS is_over
    FROM messor.api_keys k JOIN messor.members m ON m.id = k.member_id WHERE k.prefix = $1
)"""
HOLDER = """
SELECT id, member_id, secret_hash, scopes, name, role, disabled_at, revoked_at, expires_at, is_over,
       uses
  FROM found
"""
# Its use is recorded at most once a minute, and only when the secret matches.
SHOWN = f"""{FOUND}, used AS (
  UPDATE messor.api_keys k SET last_used_at = (SELECT messor.clock()), last_used_address = $3
    FROM found f
   WHERE k.id = f.id AND f.secret_hash = $2
     AND f.revoked_at IS NULL AND f.disabled_at IS NULL AND NOT f.is_over
     AND (f.last_used_at IS NULL
          OR f.last_used_at < (SELECT messor.clock()) - interval '1 minute')
) {HOLDER}"""
SHOWN_UNNOTED = FOUND + HOLDER


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key, without its secret."""

    id: UUID
    member_id: UUID
    member: str
    name: str
    prefix: str
    scopes: tuple[Act, ...]
    created_by: str
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    last_used_address: str | None
    revoked_at: datetime | None
    revoked_by: str | None
    uses: tuple[str, ...]  # what its holder declares to do with what it reads; empty: nothing
    is_good: bool  # not revoked, not expired, its member not disabled

    @classmethod
    def of(cls, row: asyncpg.Record) -> Self:
        return cls(**{**row, "scopes": _known(row["scopes"]), "uses": tuple(row["uses"])})


async def create(
    connection: Connection,
    member: Member,
    *,
    name: str,
    scopes: Collection[Act],
    by: Principal,
    days: int = USUAL_DAYS,
    uses: Collection[str] = (),
) -> tuple[ApiKey, Secret]:
    """Create a key for a member; the secret is the whole key, and cannot be shown again."""
    authorise_for(by, member.id)
    if by.must_enrol:  # a key needs no second factor: it would bypass the requirement
        raise ForbiddenError("Set up two-factor login first: My account in the console.")
    name = typed_text.understand_name(name, "name for the key")
    given = _check(member, scopes, days)
    prefix = secrets.token_hex(6)
    whole = Secret(f"messor_{prefix}_{new_token().reveal()}")
    row = await connection.fetchrow(
        INSERT,
        new_id(),
        member.id,
        name,
        prefix,
        fingerprint(whole.reveal()),
        given,
        by.actor,
        timedelta(days=days),
        list(uses),
    )
    assert row is not None
    key = ApiKey.of(row)
    await _record_event(
        connection, "key.created", by, key, scopes=given, days=days, uses=list(uses)
    )
    return key, whole


def _check(member: Member, scopes: Collection[Act], days: int) -> list[Act]:
    if member.disabled_at is not None:
        raise ConflictError(f"{member.email} is disabled and cannot have a key.")
    if not scopes:
        raise UsageError("Give at least one scope, such as read.")
    beyond = sorted(set(scopes) - key_acts_of(member.role))
    if beyond:
        raise UsageError(
            f"A key of a member with the role {member.role} cannot have the scope {', '.join(beyond)}."
        )
    if not 1 <= days <= MOST_DAYS:
        raise UsageError(f"A key is valid for 1 to {MOST_DAYS} days.")
    return sorted(set(scopes))


async def recognise(source: Connection | Database, text: str, origin: Origin) -> Principal:
    """The principal of a key; raises with the reason if it is no longer valid."""
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        raise BadKeyError("This is not an API key. Keys start with messor_.")
    shown = fingerprint(text)
    row = await last_used.fetchrow(
        source, (SHOWN, shape[1], shown, origin.stored_address), (SHOWN_UNNOTED, shape[1])
    )
    if row is None or not hmac.compare_digest(row["secret_hash"], shown):
        raise BadKeyError("Unknown API key.")
    if row["revoked_at"] is not None or row["disabled_at"] is not None:
        raise BadKeyError("This API key was revoked.")
    if row["is_over"]:
        raise BadKeyError(
            f"This API key expired on {row['expires_at']:%Y-%m-%d}. Create a new one."
        )
    role = Role(row["role"])
    acts = key_acts_of(role).intersection(_known(row["scopes"]))
    return Principal(
        row["member_id"], row["name"], role, acts, key_id=row["id"], uses=tuple(row["uses"])
    )


GOOD = """
SELECT k.member_id, m.name, m.role, k.scopes, k.uses
  FROM messor.api_keys k JOIN messor.members m ON m.id = k.member_id
 WHERE k.id = $1 AND k.revoked_at IS NULL AND m.disabled_at IS NULL
   AND k.expires_at > (SELECT messor.clock())
"""


async def holder(source: Connection | Database, key_id: UUID) -> Principal | None:
    """The principal of a key that works for its holder while they are away; None if it may not."""
    row = await source.fetchrow(GOOD, key_id)
    if row is None:
        return None
    role = Role(row["role"])
    acts = key_acts_of(role).intersection(_known(row["scopes"]))
    return Principal(
        row["member_id"], row["name"], role, acts, key_id=key_id, uses=tuple(row["uses"])
    )


async def listing(
    source: Connection | Database,
    *,
    by: Principal,
    member_id: UUID | None = None,
    limit: int = 1000,
) -> list[ApiKey]:
    """Keys of one member or, for admins, of all; newest first."""
    if member_id is None:
        authorise(by, Act.MEMBERS_MANAGE)
    else:
        authorise_for(by, member_id)
    return [ApiKey.of(row) for row in await source.fetch(LISTING, member_id, limit)]


async def get(source: Connection | Database, which: UUID | str, *, by: Principal) -> ApiKey:
    """A key by id or prefix; keys that the caller may not see are treated as missing."""
    key_id, prefix = (which, None) if isinstance(which, UUID) else (None, which)
    row = await source.fetchrow(FIND, key_id, prefix)
    if row is None or not _may_see(by, row["member_id"]):
        raise NotFoundError("There is no such API key. List them with: messor keys list")
    return ApiKey.of(row)


async def revoke(connection: Connection, key: ApiKey, *, by: Principal) -> ApiKey:
    """Revoke a key now; revoking it again is not an error."""
    authorise_for(by, key.member_id)
    if await connection.fetchval(REVOKE, key.id, by.actor) is not None:
        await _record_event(connection, "key.revoked", by, key)
    return await get(connection, key.id, by=by)


def _may_see(by: Principal, owner: UUID) -> bool:
    return by.may(Act.ACCOUNT_OWN if by.member_id == owner else Act.MEMBERS_MANAGE)


def _known(scopes: Collection[str]) -> tuple[Act, ...]:
    """Scopes that exist; one that was removed in a later release allows nothing."""
    known = {act.value for act in Act}
    return tuple(Act(scope) for scope in scopes if scope in known)


async def _record_event(
    connection: Connection, event: str, by: Principal, key: ApiKey, **data: object
) -> None:
    about = {"key": str(key.id), "prefix": key.prefix, "member": str(key.member_id), **data}
    await record(connection, [Event(event, by.actor, data=about)])
