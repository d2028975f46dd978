"""Members: who may come in and as what; added, changed, shut out and let in by a link."""

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

MOST = 500
MEANINGS = {
    Role.ADMIN: "everything",
    Role.REVIEWER: "decides about domains, their terms and their crawls",
    Role.SUBMITTER: "asks for domains and starts ingestions",
    Role.VIEWER: "reads",
}


async def show(call: ConsoleRequest) -> Response:
    return await _page(call)


async def add(call: ConsoleRequest) -> Response:
    """Take somebody in; a link lets them in, and they choose a password."""
    form = call.form
    try:
        async with call.desk.database.transaction() as connection:
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
    """One act on one member."""
    acts = {"role": _set_role, "disable": _disable, "enable": _enable, "two_factor": _reset}
    act = call.form.text("act")
    if act not in acts:
        raise UsageError(f"What can be done with a member: {', '.join(acts)}.")
    try:
        async with call.desk.database.transaction() as connection:
            member = await members.get(connection, _member_id(call))
            said = await acts[act](connection, call, member)
    except ConflictError as error:
        return await _page(call, wrong=str(error), status=409)
    return call.go("/members", said)


async def make_link(call: ConsoleRequest) -> Response:
    """A link that logs a member in once; it is shown on this page and nowhere else."""
    try:
        async with call.desk.database.transaction() as connection:
            member = await members.get(connection, _member_id(call))
            made = await links.make_login(connection, member, by=call.member)
    except ConflictError as error:
        return await _page(call, wrong=str(error), status=409)
    return await _page(call, link=made, linked=member)


async def _set_role(connection: Connection, call: ConsoleRequest, member: Member) -> str:
    changed = await members.set_role(
        connection, member, _role(call.form.text("role")), by=call.member
    )
    return f"{changed.name} is {changed.role} now, and has to log in again."


async def _disable(connection: Connection, call: ConsoleRequest, member: Member) -> str:
    await members.disable(connection, member, by=call.member)
    return f"{member.name} is shut out: sessions, links and keys stopped working."


async def _enable(connection: Connection, call: ConsoleRequest, member: Member) -> str:
    await members.enable(connection, member, by=call.member)
    return f"{member.name} may come in again."


async def _reset(connection: Connection, call: ConsoleRequest, member: Member) -> str:
    if not await second_factor.remove(connection, member, by=call.member):
        raise ConflictError(f"{member.name} has no two-factor login.")
    return f"{member.name} logs in without a second factor until they set one up again."


def _role(text: str) -> Role:
    try:
        return Role(text)
    except ValueError as error:
        raise UsageError(f"A role is {', '.join(Role)}.") from error


def _member_id(call: ConsoleRequest) -> UUID:
    member_id = as_uuid(call.part("member_id"))
    if member_id is None:
        raise NotFoundError("There is no such member.")
    return member_id


async def _page(
    call: ConsoleRequest,
    *,
    wrong: str | None = None,
    link: MadeLink | None = None,
    linked: Member | None = None,
    status: int = 200,
) -> Response:
    rows = await members.listing(call.desk.database, MOST)
    base = link_base(call.desk.settings, call.request)
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
        with_two_factor=await second_factor.who_have_one(call.desk.database),
        form=call.form if wrong else None,
    )


SCREENS = (
    get("/members", Act.MEMBERS_MANAGE, show),
    post("/members", Act.MEMBERS_MANAGE, add),
    post("/members/{member_id}", Act.MEMBERS_MANAGE, change),
    post("/members/{member_id}/link", Act.MEMBERS_MANAGE, make_link),
)
