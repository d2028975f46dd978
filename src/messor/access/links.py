"""One-time links: they create the first admin, or log a member in without a password.

Opening a link does not use it up, because mail programs and browsers prefetch; a person then
confirms with a form. Opening the session is left to `login.LoginService`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from messor.access import members
from messor.access.errors import BadLinkError
from messor.access.members import LOCK_ADMINS, Member
from messor.access.principal import LOCAL_ADMIN, Principal, authorise
from messor.access.roles import Act
from messor.access.secret import Secret, fingerprint, new_token
from messor.core.ids import new_id
from messor.errors import ConflictError
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database

Purpose = Literal["first_admin", "login"]

FIRST_ADMIN_LASTS = timedelta(hours=24)
LOGIN_LASTS = timedelta(hours=1)

INSERT = """
INSERT INTO messor.one_time_links (id, purpose, member_id, token_hash, created_by, created_at, expires_at)
SELECT $1, $2, $3, $4, $5, now, now + $6::interval FROM (SELECT messor.clock() AS now) moment
RETURNING expires_at
"""

IS_GOOD = """
 l.token_hash = $1 AND l.ended_at IS NULL AND l.expires_at > (SELECT messor.clock())
 AND CASE l.purpose
   WHEN 'first_admin' THEN NOT EXISTS (
     SELECT FROM messor.members WHERE role = 'admin' AND disabled_at IS NULL)
   ELSE EXISTS (SELECT FROM messor.members m WHERE m.id = l.member_id AND m.disabled_at IS NULL)
 END
"""

PEEK = f"SELECT purpose, member_id, expires_at FROM messor.one_time_links l WHERE {IS_GOOD}"

USE = f"""
UPDATE messor.one_time_links l SET ended_at = (SELECT messor.clock())
 WHERE {IS_GOOD} AND l.purpose = $2
RETURNING l.purpose, l.member_id, l.expires_at
"""


@dataclass(frozen=True, slots=True)
class OneTimeLink:
    """The purpose of a valid link."""

    purpose: Purpose
    member_id: UUID | None
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class MadeLink:
    """A link just created; only the hash of its token is stored."""

    token: Secret
    expires_at: datetime

    def url(self, base: str) -> str:
        """The link's URL, to be shown to one person, once."""
        return f"{base.rstrip('/')}/link/{self.token.reveal()}"


async def make_first_admin(connection: Connection) -> MadeLink:
    """A link that creates the first admin; refused once there is one."""
    if await members.has_admin(connection):
        raise ConflictError("There is already an admin. Create a link for a member instead.")
    return await _make(connection, "first_admin", None, LOCAL_ADMIN, FIRST_ADMIN_LASTS)


async def offer_first_admin(database: Database) -> MadeLink | None:
    """What `messor up` prints: a link as long as there is no admin, then None."""
    async with database.transaction() as connection:
        if await members.has_admin(connection):
            return None
        return await make_first_admin(connection)


async def make_login(
    connection: Connection, member: Member, *, by: Principal, lasts: timedelta = LOGIN_LASTS
) -> MadeLink:
    """A link that logs a member in, once."""
    authorise(by, Act.MEMBERS_MANAGE)
    if member.disabled_at is not None:
        raise ConflictError(f"{member.email} is disabled. First run: messor members enable")
    return await _make(connection, "login", member.id, by, lasts)


async def peek(source: Connection | Database, token: str) -> OneTimeLink:
    """What a link would do now, without using it."""
    row = await source.fetchrow(PEEK, fingerprint(token))
    if row is None:
        raise _bad()
    return OneTimeLink(**row)


async def use(connection: Connection, token: str, purpose: Purpose) -> OneTimeLink:
    """Use up a link; of several concurrent attempts one succeeds.

    For the first admin the caller's transaction must create that admin: it blocks others meanwhile.
    """
    if purpose == "first_admin":
        await connection.execute(LOCK_ADMINS)
    row = await connection.fetchrow(USE, fingerprint(token), purpose)
    if row is None:
        raise _bad()
    return OneTimeLink(**row)


def _bad() -> BadLinkError:
    return BadLinkError(
        "This link was already used, has expired, or is incomplete. Ask for a new one."
    )


async def _make(
    connection: Connection,
    purpose: Purpose,
    member_id: UUID | None,
    by: Principal,
    lasts: timedelta,
) -> MadeLink:
    token = new_token()
    expires_at = await connection.fetchval(
        INSERT, new_id(), purpose, member_id, fingerprint(token.reveal()), by.actor, lasts
    )
    data = {"purpose": purpose, "member": None if member_id is None else str(member_id)}
    await record(connection, [Event("link.made", by.actor, data=data)])
    return MadeLink(token, expires_at)
