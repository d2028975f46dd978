"""Members, sessions and API keys. Managing members or keys requires a session, not a key."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from messor.access import csrf, key_policies, keys, links, members, sessions
from messor.access.key_policies import KeyPolicy
from messor.access.keys import ApiKey
from messor.access.members import Member
from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep, PrincipalDep, TransactionDep
from messor.api.credentials import cookie_of
from messor.api.gate import GatedRoute, needs
from messor.api.models.people import (
    EndedOut,
    KeyIn,
    KeyPolicyIn,
    KeysOut,
    LinkOut,
    MemberChangeIn,
    MemberIn,
    MembersOut,
    NewKeyOut,
    SessionsOut,
    WhoOut,
)
from messor.errors import NotFoundError, UsageError

router = APIRouter(tags=["people"], route_class=GatedRoute)


@router.get("/session")
@needs(Act.READ)
async def who_am_i(principal: PrincipalDep, request: Request, context: ContextDep) -> WhoOut:
    """Get the caller, its permissions and the CSRF token for changes by cookie."""
    cookie = cookie_of(request, context.session_cookie) if principal.session_id else None
    return WhoOut(
        member_id=principal.member_id,
        name=principal.name,
        role=principal.role,
        acts=sorted(principal.acts),
        by_key=principal.key_id is not None,
        csrf_token=csrf.csrf_token(cookie) if cookie else None,
    )


@router.delete("/session", status_code=204)
@needs(Act.ACCOUNT_OWN)
async def log_out(connection: TransactionDep, principal: PrincipalDep) -> None:
    """End the current session."""
    await sessions.log_out(connection, principal)


@router.get("/members")
@needs(Act.MEMBERS_MANAGE)
async def list_members(database: DatabaseDep) -> MembersOut:
    """List members, oldest first."""
    found = await members.listing(database)
    return MembersOut(items=list(found))


@router.post("/members", status_code=201)
@needs(Act.MEMBERS_MANAGE)
async def create_member(
    given: MemberIn, connection: TransactionDep, principal: PrincipalDep, response: Response
) -> Member:
    """Invite a member; a login link gives them first access."""
    member = await members.create(
        connection, email=given.email, name=given.name, role=given.role, by=principal
    )
    response.headers["Location"] = f"/api/v1/members/{member.id}"
    return member


@router.get("/members/{member_id}")
@needs(Act.MEMBERS_MANAGE)
async def show_member(member_id: UUID, database: DatabaseDep) -> Member:
    """Get a member."""
    return await members.get(database, member_id)


@router.patch("/members/{member_id}")
@needs(Act.MEMBERS_MANAGE)
async def change_member(
    member_id: UUID, given: MemberChangeIn, connection: TransactionDep, principal: PrincipalDep
) -> Member:
    """Change a role, deactivate or reactivate a member; their sessions end."""
    if given.role is None and given.disabled is None:
        raise UsageError("Specify role or disabled.")
    member = await members.get(connection, member_id)
    if given.role is not None:
        member = await members.set_role(connection, member, given.role, by=principal)
    if given.disabled is not None:
        act = members.disable if given.disabled else members.enable
        member = await act(connection, member, by=principal)
    return member


@router.post("/members/{member_id}/links", status_code=201)
@needs(Act.MEMBERS_MANAGE, returns_secret=True)
async def make_link(
    member_id: UUID, connection: TransactionDep, principal: PrincipalDep
) -> LinkOut:
    """Create a one-time login link."""
    made = await links.make_login(
        connection, await members.get(connection, member_id), by=principal
    )
    return LinkOut(path=made.url(""), expires_at=made.expires_at)


@router.get("/members/{member_id}/sessions")
@needs(Act.ACCOUNT_OWN)
async def list_sessions(
    member_id: UUID, database: DatabaseDep, principal: PrincipalDep
) -> SessionsOut:
    """List the sessions of a member; other members' sessions are for admins."""
    _check_sight(principal, member_id)
    found = await sessions.listing(database, member_id, by=principal)
    return SessionsOut(items=list(found))


@router.delete("/members/{member_id}/sessions", response_model=EndedOut)
@needs(Act.ACCOUNT_OWN)
async def end_sessions(
    member_id: UUID, connection: TransactionDep, principal: PrincipalDep
) -> EndedOut:
    """End all sessions of a member except the current one."""
    _check_sight(principal, member_id)
    ended = await sessions.revoke_all(connection, member_id, by=principal, but=principal.session_id)
    return EndedOut(sessions=ended)


@router.delete("/members/{member_id}/sessions/{session_id}", status_code=204)
@needs(Act.ACCOUNT_OWN)
async def end_session(
    member_id: UUID, session_id: UUID, connection: TransactionDep, principal: PrincipalDep
) -> None:
    """End one session of a member."""
    _check_sight(principal, member_id)
    await sessions.revoke(connection, member_id, session_id, by=principal)


def _check_sight(principal: PrincipalDep, member_id: UUID) -> None:
    """Other members' data is reported as not found to callers without permission."""
    if principal.member_id != member_id and not principal.may(Act.MEMBERS_MANAGE):
        raise NotFoundError("No such member.")


@router.get("/keys")
@needs(Act.ACCOUNT_OWN)
async def list_keys(
    database: DatabaseDep,
    principal: PrincipalDep,
    *,
    everybody: Annotated[
        bool, Query(description="Include keys of other members, for admins")
    ] = False,
) -> KeysOut:
    """List the caller's API keys, newest first."""
    found = await keys.listing(
        database, by=principal, member_id=None if everybody else principal.member_id
    )
    return KeysOut(items=list(found))


@router.post("/keys", status_code=201)
@needs(Act.ACCOUNT_OWN, returns_secret=True)
async def create_key(
    given: KeyIn, connection: TransactionDep, principal: PrincipalDep, response: Response
) -> NewKeyOut:
    """Create an API key; its secret is returned only once."""
    owner = given.member_id or principal.member_id
    assert owner is not None, "only members have sessions"
    _check_sight(principal, owner)
    key, secret = await keys.create(
        connection,
        await members.get(connection, owner),
        name=given.name,
        scopes=given.scopes,
        days=given.days,
        uses=given.uses,
        by=principal,
    )
    response.headers["Location"] = f"/api/v1/keys/{key.id}"
    return NewKeyOut(key=key, secret=secret.reveal())


@router.get("/keys/{key_id}")
@needs(Act.ACCOUNT_OWN)
async def show_key(key_id: UUID, database: DatabaseDep, principal: PrincipalDep) -> ApiKey:
    """Get a key, without its secret."""
    return await keys.get(database, key_id, by=principal)


@router.delete("/keys/{key_id}")
@needs(Act.ACCOUNT_OWN)
async def revoke_key(key_id: UUID, connection: TransactionDep, principal: PrincipalDep) -> ApiKey:
    """Revoke a key."""
    key = await keys.get(connection, key_id, by=principal)
    return await keys.revoke(connection, key, by=principal)


@router.get("/keys/{key_id}/policy")
@needs(Act.ACCOUNT_OWN)
async def show_key_policy(
    key_id: UUID, database: DatabaseDep, principal: PrincipalDep
) -> KeyPolicy:
    """Get what a key decides by itself."""
    key = await keys.get(database, key_id, by=principal)
    found = (await key_policies.of_keys(database, [key.id])).get(key.id)
    if found is None:
        raise NotFoundError("This key has no policy: it approves nothing by itself.")
    return found


@router.put("/keys/{key_id}/policy")
@needs(Act.ACCOUNT_OWN)
async def set_key_policy(
    key_id: UUID, given: KeyPolicyIn, connection: TransactionDep, principal: PrincipalDep
) -> KeyPolicy:
    """Let a key approve domains on first use; only for those who may review domains."""
    key = await keys.get(connection, key_id, by=principal)
    return await key_policies.give(
        connection,
        key,
        domains=given.domains,
        by=principal,
        max_depth=given.max_depth,
        pages_a_day=given.pages_a_day,
    )


@router.delete("/keys/{key_id}/policy", status_code=204)
@needs(Act.ACCOUNT_OWN)
async def drop_key_policy(
    key_id: UUID, connection: TransactionDep, principal: PrincipalDep
) -> None:
    """Take a key's policy away."""
    key = await keys.get(connection, key_id, by=principal)
    await key_policies.drop(connection, key, by=principal)
