"""Members: invite, change role, deactivate, reactivate and create login links."""

from __future__ import annotations

from uuid import UUID

from starlette.responses import Response

from messor.access import links, members, second_factor
from messor.access.links import MadeLink
from messor.access.members import Member
from messor.access.roles import Act, Role
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.console.views.tasks import as_uuid
from messor.errors import ConflictError, NotFoundError, UsageError
from messor.runtime.server.hosts import link_base
from messor.store.database import Connection

MAX_MEMBERS = 500
MEANINGS = {
    Role.ADMIN: "full access",
    Role.REVIEWER: "decides on domains, their settings and crawls",
    Role.SUBMITTER: "submits domains and starts ingestions",
    Role.VIEWER: "read only",
}


async def show(call: ConsoleRequest) -> Response:
    return await _page(call)


async def add(call: ConsoleRequest) -> Response:
    """Invite a member; the login link lets them choose a password."""
    form = call.form
    try:
        async with call.context.database.transaction() as connection:
            member = await members.create(
                connection,
                email=form.text("email"),
                name=form.text("name"),
                role=_role(form.text("role")),
                by=call.member,
            )
            made = await links.make_login(connection, member, by=call.member)
    except (UsageError, ConflictError) as error:
        return await _page(call, wrong=str(error), status=422)
    return await _page(call, link=made, linked=member)


async def change(call: ConsoleRequest) -> Response:
    """Apply one action to one member."""
    acts = {"role": _set_role, "disable": _disable, "enable": _enable, "two_factor": _reset}
    act = call.form.text("act")
    if act not in acts:
        raise UsageError(f"The action must be one of {', '.join(acts)}.")
    try:
        async with call.context.database.transaction() as connection:
            member = await members.get(connection, _member_id(call))
            message = await acts[act](connection, call, member)
    except ConflictError as error:
        return await _page(call, wrong=str(error), status=409)
    return call.go("/members", message)


async def make_link(call: ConsoleRequest) -> Response:
    """Create a one-time login link; only this response shows it."""
    try:
        async with call.context.database.transaction() as connection:
            member = await members.get(connection, _member_id(call))
            made = await links.make_login(connection, member, by=call.member)
    except ConflictError as error:
        return await _page(call, wrong=str(error), status=409)
    return await _page(call, link=made, linked=member)


async def _set_role(connection: Connection, call: ConsoleRequest, member: Member) -> str:
    changed = await members.set_role(
        connection, member, _role(call.form.text("role")), by=call.member
    )
    return f"{changed.name} now has the role {changed.role} and must log in again."


async def _disable(connection: Connection, call: ConsoleRequest, member: Member) -> str:
    await members.disable(connection, member, by=call.member)
    return f"{member.name} was deactivated; their sessions, links and keys no longer work."


async def _enable(connection: Connection, call: ConsoleRequest, member: Member) -> str:
    await members.enable(connection, member, by=call.member)
    return f"{member.name} was reactivated."


async def _reset(connection: Connection, call: ConsoleRequest, member: Member) -> str:
    if not await second_factor.remove(connection, member, by=call.member):
        raise ConflictError(f"{member.name} has not set up two-factor authentication.")
    return f"Two-factor authentication of {member.name} was reset; they can set it up again."


def _role(text: str) -> Role:
    try:
        return Role(text)
    except ValueError as error:
        raise UsageError(f"The role must be one of {', '.join(Role)}.") from error


def _member_id(call: ConsoleRequest) -> UUID:
    member_id = as_uuid(call.part("member_id"))
    if member_id is None:
        raise NotFoundError("No such member.")
    return member_id


async def _page(
    call: ConsoleRequest,
    *,
    wrong: str | None = None,
    link: MadeLink | None = None,
    linked: Member | None = None,
    status: int = 200,
) -> Response:
    rows = await members.listing(call.context.database, MAX_MEMBERS)
    base = link_base(call.context.settings, call.request)
    return await call.page(
        "members/list.html",
        status=status,
        rows=rows,
        names=await call.names({row.created_by for row in rows}),
        wrong=wrong,
        link=link.url(base) if link else None,
        expires=link.expires_at if link else None,
        linked=linked,
        roles=MEANINGS,
        with_two_factor=await second_factor.who_have_one(call.context.database),
        form=call.form if wrong else None,
    )


SCREENS = (
    get("/members", Act.MEMBERS_MANAGE, show),
    post("/members", Act.MEMBERS_MANAGE, add),
    post("/members/{member_id}", Act.MEMBERS_MANAGE, change),
    post("/members/{member_id}/link", Act.MEMBERS_MANAGE, make_link),
)
