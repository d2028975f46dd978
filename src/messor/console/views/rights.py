"""Rights: what a domain is approved for, permissions on file, and what was held back."""

from __future__ import annotations

from datetime import date
from typing import Any, cast
from urllib.parse import quote
from uuid import UUID

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.addresses import domain_path
from messor.console.call import ConsoleRequest
from messor.console.listing import list_of
from messor.console.screens import get, post, upload
from messor.console.views.batches import as_uuid
from messor.errors import ConflictError, UsageError
from messor.explain import rights as explained
from messor.registry import domains
from messor.registry.domains import Domain
from messor.rights import permissions, report, uses
from messor.rights.decide import SENTENCES, Reason
from messor.rights.permissions import Basis, NewPermission
from messor.rights.queries import HELD, PERMISSIONS, PermissionFilter
from messor.rights.release import Purpose
from messor.rights.uses import MEANINGS, USE_NAMES

BASES = {
    "own_content": "Our own content",
    "contract": "Contract",
    "permission": "Permission in writing",
}


async def show(call: ConsoleRequest) -> Response:
    return await _page(call, await domains.get(call.context.database, call.part("name")))


async def _page(
    call: ConsoleRequest, domain: Domain, *, wrong: str | None = None, status: int = 200
) -> Response:
    database = call.context.database
    said = await explained.of_domain(database, domain.domain)
    filed = await PERMISSIONS.read(database, PermissionFilter(domain=domain.domain), limit=50)
    return await call.page(
        "domain/rights.html", status=status, wrong=wrong, domain=domain,
        base=domain_path(domain.domain), said=said, meanings=MEANINGS, bases=BASES,
        rows=await report.of_domain_pages(database, domain), permissions=filed.items,
        named=await uses.of_domain(database, domain.id),
        names=await call.names({one.granted_by for one in filed.items}),
    )  # fmt: skip


async def name_uses(call: ConsoleRequest) -> Response:
    """Set what a domain is approved for."""
    async with call.context.database.transaction() as connection:
        domain = await domains.lock(connection, call.part("name"))
        named = uses.parsed(call.form.every("use"))
        await uses.name_uses(connection, domain.id, named, actor=call.actor)
    return call.go(domain_path(domain.domain, "rights"), "Approved uses saved.")


async def permit(call: ConsoleRequest) -> Response:
    """Put a permission on file."""
    domain = await domains.get(call.context.database, call.part("name"))
    try:
        wanted = _wanted(call)
        async with call.context.database.transaction() as connection:
            await permissions.grant(connection, domain.id, wanted, actor=call.actor)
    except UsageError as error:
        return await _page(call, domain, wrong=str(error), status=422)
    return call.go(domain_path(domain.domain, "rights"), "The permission is on file.")


def _wanted(call: ConsoleRequest) -> NewPermission:
    form = call.form
    use, file = uses.parsed([form.text("use")]), form.file("document")
    if not use:
        raise UsageError("Choose a use.")
    typed = form.words("expires_on")
    try:
        expires = date.fromisoformat(typed) if typed else None
    except ValueError as error:
        raise UsageError("The last day must be a date such as 2027-12-31.") from error
    return NewPermission(
        use[0],
        cast(Basis, form.text("basis")),
        form.text("reason"),
        file.name if file else None,
        file.body if file else None,
        expires,
    )


async def revoke(call: ConsoleRequest) -> Response:
    permission_id = _id(call)
    try:
        async with call.context.database.transaction() as connection:
            found = await permissions.get(connection, permission_id)
            await permissions.revoke(connection, found, actor=call.actor)
    except ConflictError as error:
        return call.go("/rights/permissions", str(error), "warning")
    return call.go(domain_path(found.domain, "rights"), "The permission was revoked.")


async def download(call: ConsoleRequest) -> Response:
    name, document = await permissions.document_of(call.context.database, _id(call))
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
    return Response(document, media_type="application/octet-stream", headers=headers)


def _id(call: ConsoleRequest) -> UUID:
    return as_uuid(call.part("permission_id"))


async def show_permissions(call: ConsoleRequest) -> Response:
    listed = await list_of(call, PERMISSIONS, "/rights/permissions", choices={"use": USE_NAMES})
    names = await call.names({one.granted_by for one in listed.items})
    return await call.page("rights/permissions.html", listed=listed, names=names, bases=BASES)


async def show_held(call: ConsoleRequest) -> Response:
    labels: dict[str, Any] = {"reason": {each.value: text for each, text in SENTENCES.items()}}
    choices = {"purpose": tuple(Purpose), "use": USE_NAMES, "reason": tuple(Reason)}
    listed = await list_of(call, HELD, "/rights/held", choices=choices, labels=labels)
    return await call.page("rights/held.html", listed=listed, reasons=SENTENCES)


SCREENS = (
    get("/domains/{name}/rights", Act.READ, show),
    post("/domains/{name}/uses", Act.DOMAINS_REVIEW, name_uses),
    upload("/domains/{name}/permissions", Act.RIGHTS_PERMIT, permit),
    post("/rights/permissions/{permission_id}/revoke", Act.RIGHTS_PERMIT, revoke),
    get("/rights/permissions/{permission_id}/document", Act.RIGHTS_PERMIT, download),
    get("/rights/permissions", Act.READ, show_permissions),
    get("/rights/held", Act.READ, show_held),
)
