"""Members, their sessions and API keys. No key may manage members or keys: only a session may."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from messor.access import csrf, keys, links, members, sessions
from messor.access.roles import Act
from messor.api.credentials import cookie_of
from messor.api.gate import GatedRoute, needs
from messor.api.house import Here, Source, Unit, Who
from messor.api.models.people import (
    EndedOut,
    KeyIn,
    KeyOut,
    KeysOut,
    LinkOut,
    LoginSessionOut,
    MemberChangeIn,
    MemberIn,
    MemberOut,
    MembersOut,
    NewKeyOut,
    SessionsOut,
    WhoOut,
)
from messor.errors import NotFoundError, UsageError

router = APIRouter(tags=["people"], route_class=GatedRoute)


@router.get("/session")
@needs(Act.READ)
async def who_am_i(who: Who, request: Request, here: Here) -> WhoOut:
    """Who is asking, what they may do, and the token that changes by cookie need."""
    cookie = cookie_of(request, here.session_cookie) if who.session_id else None
    return WhoOut(
        member_id=who.member_id,
        name=who.name,
        role=who.role,
        acts=sorted(who.acts),
        by_key=who.key_id is not None,
        csrf_token=csrf.csrf_token(cookie) if cookie else None,
    )


@router.delete("/session", status_code=204)
@needs(Act.ACCOUNT_OWN)
async def log_out(unit: Unit, who: Who) -> None:
    """End the session one came with."""
    await sessions.log_out(unit, who)


@router.get("/members")
@needs(Act.MEMBERS_MANAGE)
async def list_members(source: Source) -> MembersOut:
    """Everybody, oldest first."""
    found = await members.listing(source)
    return MembersOut(items=[MemberOut.model_validate(one) for one in found])


@router.post("/members", status_code=201)
@needs(Act.MEMBERS_MANAGE)
async def create_member(given: MemberIn, unit: Unit, who: Who, response: Response) -> MemberOut:
    """Take in a member; a link lets them in for the first time."""
    member = await members.create(unit, email=given.email, name=given.name, role=given.role, by=who)
    response.headers["Location"] = f"/api/v1/members/{member.id}"
    return MemberOut.model_validate(member)


@router.get("/members/{member_id}")
@needs(Act.MEMBERS_MANAGE)
async def show_member(member_id: UUID, source: Source) -> MemberOut:
    """One member."""
    return MemberOut.model_validate(await members.get(source, member_id))


@router.patch("/members/{member_id}")
@needs(Act.MEMBERS_MANAGE)
async def change_member(member_id: UUID, given: MemberChangeIn, unit: Unit, who: Who) -> MemberOut:
    """Change a role, shut a member out, or let them in again; their sessions end."""
    if given.role is None and given.disabled is None:
        raise UsageError("Say what to change: role or disabled.")
    member = await members.get(unit, member_id)
    if given.role is not None:
        member = await members.set_role(unit, member, given.role, by=who)
    if given.disabled is not None:
        act = members.disable if given.disabled else members.enable
        member = await act(unit, member, by=who)
    return MemberOut.model_validate(member)


@router.post("/members/{member_id}/links", status_code=201)
@needs(Act.MEMBERS_MANAGE, tells_secret=True)
async def make_link(member_id: UUID, unit: Unit, who: Who) -> LinkOut:
    """A link that logs a member in, once."""
    made = await links.make_login(unit, await members.get(unit, member_id), by=who)
    return LinkOut(path=made.url(""), expires_at=made.expires_at)


@router.get("/members/{member_id}/sessions")
@needs(Act.ACCOUNT_OWN)
async def list_sessions(member_id: UUID, source: Source, who: Who) -> SessionsOut:
    """A member's open sessions; those of others are for admins."""
    _check_sight(who, member_id)
    found = await sessions.listing(source, member_id, by=who)
    return SessionsOut(items=[LoginSessionOut.model_validate(one) for one in found])


@router.delete("/members/{member_id}/sessions", response_model=EndedOut)
@needs(Act.ACCOUNT_OWN)
async def end_sessions(member_id: UUID, unit: Unit, who: Who) -> EndedOut:
    """End all sessions of a member but the one that asks."""
    _check_sight(who, member_id)
    ended = await sessions.revoke_all(unit, member_id, by=who, but=who.session_id)
    return EndedOut(sessions=ended)


@router.delete("/members/{member_id}/sessions/{session_id}", status_code=204)
@needs(Act.ACCOUNT_OWN)
async def end_session(member_id: UUID, session_id: UUID, unit: Unit, who: Who) -> None:
    """End one session of a member."""
    _check_sight(who, member_id)
    await sessions.revoke(unit, member_id, session_id, by=who)


def _check_sight(who: Who, member_id: UUID) -> None:
    """What belongs to somebody else is not there for those who may not see it."""
    if who.member_id != member_id and not who.may(Act.MEMBERS_MANAGE):
        raise NotFoundError("There is no such member.")


@router.get("/keys")
@needs(Act.ACCOUNT_OWN)
async def list_keys(
    source: Source,
    who: Who,
    *,
    everybody: Annotated[bool, Query(description="Also those of others, for admins")] = False,
) -> KeysOut:
    """One's own API keys, the newest first."""
    found = await keys.listing(source, by=who, member_id=None if everybody else who.member_id)
    return KeysOut(items=[KeyOut.model_validate(one) for one in found])


@router.post("/keys", status_code=201)
@needs(Act.ACCOUNT_OWN, tells_secret=True)
async def create_key(given: KeyIn, unit: Unit, who: Who, response: Response) -> NewKeyOut:
    """Make an API key; its secret is shown this one time."""
    owner = given.member_id or who.member_id
    assert owner is not None, "only members have sessions"
    _check_sight(who, owner)
    key, secret = await keys.create(
        unit,
        await members.get(unit, owner),
        name=given.name,
        scopes=given.scopes,
        days=given.days,
        by=who,
    )
    response.headers["Location"] = f"/api/v1/keys/{key.id}"
    return NewKeyOut(key=KeyOut.model_validate(key), secret=secret.reveal())


@router.get("/keys/{key_id}")
@needs(Act.ACCOUNT_OWN)
async def show_key(key_id: UUID, source: Source, who: Who) -> KeyOut:
    """One key, without its secret."""
    return KeyOut.model_validate(await keys.get(source, key_id, by=who))


@router.delete("/keys/{key_id}")
@needs(Act.ACCOUNT_OWN)
async def revoke_key(key_id: UUID, unit: Unit, who: Who) -> KeyOut:
    """End a key now."""
    key = await keys.get(unit, key_id, by=who)
    return KeyOut.model_validate(await keys.revoke(unit, key, by=who))
