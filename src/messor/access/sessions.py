"""Sessions: logins with an expiry, stored here and found by the hash of their token.

Each request looks up its session, so revoking one takes effect with the next request.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from messor.access import last_used
from messor.access.errors import SessionEndedError
from messor.access.members import Member
from messor.access.origin import Origin
from messor.access.principal import Principal, authorise_for
from messor.access.roles import Act, Role, acts_of
from messor.access.secret import Secret, fingerprint, new_token
from messor.core.ids import new_id
from messor.errors import NotFoundError
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database

IS_OPEN = """
 s.ended_at IS NULL AND s.expires_at > (SELECT messor.clock())
 AND s.last_seen_at + s.idle > (SELECT messor.clock())
"""

COLUMNS = """s.id, s.member_id, s.opened_by, s.address, s.user_agent, s.opened_at, s.last_seen_at,
  least(s.expires_at, s.last_seen_at + s.idle) AS ends_at"""

OPEN = f"""
WITH moment AS MATERIALIZED (SELECT messor.clock() AS now), s AS (
  INSERT INTO messor.sessions (id, member_id, token_hash, opened_by, address, network, user_agent,
                               idle, opened_at, last_seen_at, expires_at)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, now, now, now + $9::interval FROM moment
  RETURNING *
), seen AS (
  UPDATE messor.members SET last_login_at = (SELECT now FROM moment) WHERE id = $2
)
SELECT {COLUMNS} FROM s
"""

FOUND = f"""
WITH found AS (
  SELECT s.id, s.member_id, m.name, m.role, s.opened_by, s.last_seen_at
    FROM messor.sessions s JOIN messor.members m ON m.id = s.member_id AND m.disabled_at IS NULL
   WHERE s.token_hash = $1 AND {IS_OPEN}
)"""
HOLDER = """
SELECT id, member_id, name, role, opened_by = 'identity_provider' OR EXISTS (
         SELECT FROM messor.second_factors f
          WHERE f.member_id = found.member_id AND f.confirmed_at IS NOT NULL) AS has_second_factor
  FROM found
"""
# The row is written at most once a minute, however often it is read.
RESUME = f"""{FOUND}, seen AS (
  UPDATE messor.sessions s SET last_seen_at = (SELECT messor.clock())
    FROM found f WHERE s.id = f.id
     AND f.last_seen_at < (SELECT messor.clock()) - interval '1 minute'
) {HOLDER}"""
RESUME_UNNOTED = FOUND + HOLDER

LISTING = f"""
SELECT {COLUMNS} FROM messor.sessions s WHERE s.member_id = $1 AND {IS_OPEN}
 ORDER BY s.last_seen_at DESC, s.id
"""

END = f"""
UPDATE messor.sessions s SET ended_at = (SELECT messor.clock())
 WHERE s.id = $1 AND s.member_id = $2 AND {IS_OPEN} RETURNING s.id
"""

END_ALL = f"""
UPDATE messor.sessions s SET ended_at = (SELECT messor.clock())
 WHERE s.member_id = $1 AND s.id IS DISTINCT FROM $2 AND {IS_OPEN} RETURNING s.id
"""


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long a session lasts: when idle, and at most."""

    idle: timedelta = timedelta(hours=12)
    absolute: timedelta = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class LoginSession:
    """An open session, as its member may see it."""

    id: UUID
    member_id: UUID
    opened_by: str  # password, link, first_admin or identity_provider
    address: str | None
    user_agent: str | None
    opened_at: datetime
    last_seen_at: datetime
    ends_at: datetime  # unless it is used before


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """A session just opened: its token goes into a cookie, and only its hash is stored."""

    token: Secret
    session: LoginSession
    principal: Principal


async def open_session(
    connection: Connection, member: Member, *, opened_by: str, origin: Origin, lifetimes: Lifetimes
) -> OpenedSession:
    """Log a member in; the caller has authenticated them in the same transaction."""
    token = new_token()
    row = await connection.fetchrow(
        OPEN,
        new_id(),
        member.id,
        fingerprint(token.reveal()),
        opened_by,
        origin.stored_address,
        origin.network,
        origin.stored_agent,
        lifetimes.idle,
        lifetimes.absolute,
    )
    assert row is not None
    session = LoginSession(**row)
    principal = _principal(session.id, member.id, member.name, member.role)
    await _record_event(
        connection,
        "session.opened",
        principal,
        member.id,
        session=str(session.id),
        opened_by=opened_by,
        address=session.address,
    )
    return OpenedSession(token, session, principal)


async def resume(
    source: Connection | Database, token: str | None, *, two_factor_required: bool = False
) -> Principal:
    """The principal of this token; raises when its session has ended or never existed.

    Where two factors are required, a member with only one may do nothing but set up the second.
    """
    row = None
    if token:
        shown = fingerprint(token)
        row = await last_used.fetchrow(source, (RESUME, shown), (RESUME_UNNOTED, shown))
    if row is None:
        raise SessionEndedError("This session has ended. Log in again.")
    principal = _principal(row["id"], row["member_id"], row["name"], Role(row["role"]))
    if two_factor_required and not row["has_second_factor"]:
        return replace(principal, acts=frozenset({Act.ACCOUNT_OWN}), must_enrol=True)
    return principal


async def listing(
    source: Connection | Database, member_id: UUID, *, by: Principal
) -> list[LoginSession]:
    """A member's open sessions, last seen first."""
    authorise_for(by, member_id)
    return [LoginSession(**row) for row in await source.fetch(LISTING, member_id)]


async def log_out(connection: Connection, principal: Principal) -> None:
    """End the current session; ending it again is not an error."""
    if principal.session_id is None or principal.member_id is None:
        return
    if await connection.fetchval(END, principal.session_id, principal.member_id):
        session = str(principal.session_id)
        await _record_event(
            connection, "session.closed", principal, principal.member_id, session=session
        )


async def revoke(
    connection: Connection, member_id: UUID, session_id: UUID, *, by: Principal
) -> None:
    """End one session of a member."""
    authorise_for(by, member_id)
    if await connection.fetchval(END, session_id, member_id) is None:
        raise NotFoundError("This session has already ended.")
    await _record_event(connection, "session.revoked", by, member_id, session=str(session_id))


async def revoke_all(
    connection: Connection, member_id: UUID, *, by: Principal, but: UUID | None = None
) -> int:
    """End all sessions of a member, except `but`; returns how many."""
    authorise_for(by, member_id)
    ended = await connection.fetch(END_ALL, member_id, but)
    if ended:
        await _record_event(connection, "session.all_revoked", by, member_id, sessions=len(ended))
    return len(ended)


def _principal(session_id: UUID, member_id: UUID, name: str, role: Role) -> Principal:
    return Principal(member_id, name, role, acts_of(role), session_id=session_id)


async def _record_event(
    connection: Connection, event: str, by: Principal, member_id: UUID, **data: str | int | None
) -> None:
    fact = Event(event, by.actor, data={"member": str(member_id), **data})
    await record(connection, [fact])
