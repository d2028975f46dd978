"""Members: who may log in, and with which role.

Each action runs in the caller's transaction with its event, and checks by itself that `by` may do
it. There is always an admin left: actions that could remove the last one are serialised.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

import asyncpg

from messor.access import typed_text
from messor.access.passwords import PasswordHash
from messor.access.principal import Principal, authorise, authorise_for
from messor.access.roles import Act, Role
from messor.core.ids import new_id
from messor.errors import ConflictError, NotFoundError
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database

COLUMNS = """id, email, name, role, password_hash IS NOT NULL AS has_password, disabled_at,
  last_login_at, created_by, created_at"""

INSERT = f"""
INSERT INTO messor.members (id, email, name, role, password_hash, password_changed_at, created_by)
VALUES ($1, $2, $3, $4, $5, CASE WHEN $5::text IS NOT NULL THEN (SELECT messor.clock()) END, $6)
ON CONFLICT (email) DO NOTHING
RETURNING {COLUMNS}
"""

SET_ROLE = f"""
UPDATE messor.members SET role = $2, updated_at = (SELECT messor.clock())
 WHERE id = $1 RETURNING {COLUMNS}
"""

DISABLE = f"""
UPDATE messor.members SET disabled_at = (SELECT messor.clock()), updated_at = (SELECT messor.clock())
 WHERE id = $1 RETURNING {COLUMNS}
"""

ENABLE = f"""
UPDATE messor.members SET disabled_at = NULL, updated_at = (SELECT messor.clock())
 WHERE id = $1 RETURNING {COLUMNS}
"""

SET_PASSWORD = f"""
UPDATE messor.members
   SET password_hash = $2, password_changed_at = (SELECT messor.clock()),
       updated_at = (SELECT messor.clock())
 WHERE id = $1 RETURNING {COLUMNS}
"""

END_SESSIONS = """
UPDATE messor.sessions SET ended_at = (SELECT messor.clock())
 WHERE member_id = $1 AND ended_at IS NULL
"""

END_LINKS = """
UPDATE messor.one_time_links SET ended_at = (SELECT messor.clock())
 WHERE member_id = $1 AND ended_at IS NULL
"""

# Held until the end of the transaction by whoever makes the first admin or removes one.
LOCK_ADMINS = "SELECT pg_advisory_xact_lock(hashtextextended('messor.admins', 0))"
ADMINS = "SELECT id FROM messor.members WHERE role = 'admin' AND disabled_at IS NULL LIMIT 2"

NAMES = """
SELECT 'member:' || id AS actor, name FROM messor.members WHERE id = ANY ($1)
UNION ALL
SELECT 'key:' || k.id, m.name || ' (key ' || k.name || ')'
  FROM messor.api_keys k JOIN messor.members m ON m.id = k.member_id WHERE k.id = ANY ($1)
"""


@dataclass(frozen=True, slots=True)
class Member:
    """One row of the members, without the password hash."""

    id: UUID
    email: str
    name: str
    role: Role
    has_password: bool
    disabled_at: datetime | None
    last_login_at: datetime | None
    created_by: str
    created_at: datetime

    @classmethod
    def of(cls, row: asyncpg.Record) -> Self:
        return cls(**{**row, "role": Role(row["role"])})


async def create(
    connection: Connection,
    *,
    email: str,
    name: str,
    role: Role,
    password: PasswordHash | None = None,
    by: Principal,
) -> Member:
    """Create a member; without a password they first log in by a link."""
    authorise(by, Act.MEMBERS_MANAGE)
    return await insert(
        connection, email=email, name=name, role=role, password=password, actor=by.actor
    )


async def insert(
    connection: Connection,
    *,
    email: str,
    name: str,
    role: Role,
    password: PasswordHash | None,
    actor: str,
) -> Member:
    """As `create`, where something other than a role permits it."""
    address, name = typed_text.understand_email(email), typed_text.understand_name(name)
    encoded = None if password is None else password.encoded
    row = await connection.fetchrow(INSERT, new_id(), address, name, role, encoded, actor)
    if row is None:
        raise ConflictError(f"{address} is already a member.")
    member = Member.of(row)
    await _record_event(connection, "member.created", actor, member, role=role)
    return member


async def set_role(connection: Connection, member: Member, role: Role, *, by: Principal) -> Member:
    """Change a role; the member's sessions end, and their keys keep what the new role allows."""
    authorise(by, Act.MEMBERS_MANAGE)
    await connection.execute(LOCK_ADMINS)
    before = await _lock(connection, member)
    if before.role is role:
        return before
    if before.role is Role.ADMIN:
        await _refuse_the_last(connection, before)
    after = await _change(connection, SET_ROLE, before.id, role)
    await _end_all(connection, after)
    await _record_event(
        connection, "member.role_changed", by.actor, after, role=role, former=before.role
    )
    return after


async def disable(connection: Connection, member: Member, *, by: Principal) -> Member:
    """Disable a member: sessions, links and keys stop working at once."""
    authorise(by, Act.MEMBERS_MANAGE)
    await connection.execute(LOCK_ADMINS)
    before = await _lock(connection, member)
    if before.disabled_at is not None:
        return before
    if before.role is Role.ADMIN:
        await _refuse_the_last(connection, before)
    after = await _change(connection, DISABLE, before.id)
    await _end_all(connection, after)
    await _record_event(connection, "member.disabled", by.actor, after)
    return after


async def enable(connection: Connection, member: Member, *, by: Principal) -> Member:
    """Enable a member again with the same role; keys that were not revoked work again."""
    authorise(by, Act.MEMBERS_MANAGE)
    before = await _lock(connection, member)
    if before.disabled_at is None:
        return before
    after = await _change(connection, ENABLE, before.id)
    await _record_event(connection, "member.enabled", by.actor, after)
    return after


async def set_password(
    connection: Connection, member: Member, password: PasswordHash, *, by: Principal
) -> Member:
    """Set a password; all sessions and links of the member end.

    Members change their own through `login.LoginService`, which requires the old one.
    """
    authorise_for(by, member.id)
    await _lock(connection, member)
    after = await _change(connection, SET_PASSWORD, member.id, password.encoded)
    await _end_all(connection, after)
    await _record_event(connection, "member.password_changed", by.actor, after)
    return after


async def get(source: Connection | Database, who: UUID | str) -> Member:
    """A member by id or e-mail address."""
    column = "id" if isinstance(who, UUID) else "email"
    key = who if isinstance(who, UUID) else typed_text.understand_email(who)
    row = await source.fetchrow(f"SELECT {COLUMNS} FROM messor.members WHERE {column} = $1", key)
    if row is None:
        raise NotFoundError(f"{key} is not a member. List members with: messor members list")
    return Member.of(row)


async def listing(source: Connection | Database, limit: int = 1000) -> list[Member]:
    """All members, oldest first."""
    rows = await source.fetch(
        f"SELECT {COLUMNS} FROM messor.members ORDER BY created_at, id LIMIT $1", limit
    )
    return [Member.of(row) for row in rows]


async def has_admin(source: Connection | Database) -> bool:
    return bool(await source.fetch(ADMINS))


async def names(source: Connection | Database, actors: Iterable[str]) -> dict[str, str]:
    """Display names of the actors of events; an actor without a name is left out."""
    found = set()
    for actor in actors:
        kind, _, key = actor.partition(":")
        if kind in ("member", "key"):
            try:
                found.add(UUID(key))
            except ValueError:
                continue
    return {row["actor"]: row["name"] for row in await source.fetch(NAMES, list(found))}


async def _lock(connection: Connection, member: Member) -> Member:
    """The member's current row, locked until the transaction ends."""
    row = await connection.fetchrow(
        f"SELECT {COLUMNS} FROM messor.members WHERE id = $1 FOR NO KEY UPDATE", member.id
    )
    if row is None:
        raise NotFoundError(f"{member.email} is no longer a member.")
    return Member.of(row)


async def _refuse_the_last(connection: Connection, member: Member) -> None:
    admins = [row["id"] for row in await connection.fetch(ADMINS)]
    if admins == [member.id]:
        raise ConflictError(f"{member.email} is the only admin. Make someone else an admin first.")


async def _change(connection: Connection, sql: str, *args: object) -> Member:
    row = await connection.fetchrow(sql, *args)
    assert row is not None, "the row is locked"
    return Member.of(row)


async def _end_all(connection: Connection, member: Member) -> None:
    await connection.execute(END_SESSIONS, member.id)
    await connection.execute(END_LINKS, member.id)


async def _record_event(
    connection: Connection, event: str, actor: str, member: Member, **data: str
) -> None:
    fact = Event(event, actor, data={"member": str(member.id), **data})
    await record(connection, [fact])
