"""Saved views: save, share, set as default and delete."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from uuid import UUID

from starlette.responses import Response

from messor.access import saved_views
from messor.access.roles import Act
from messor.access.saved_views import LISTS, SavedView
from messor.console.addresses import within
from messor.console.call import ConsoleRequest
from messor.console.saved import PLACES, address
from messor.console.screens import get, post
from messor.console.views.tasks import as_uuid
from messor.errors import ConflictError, NotFoundError, UsageError
from messor.store.database import Connection

Action = Callable[[Connection, ConsoleRequest, SavedView], Awaitable[str]]


async def show(call: ConsoleRequest) -> Response:
    return await _page(call)


async def save(call: ConsoleRequest) -> Response:
    """Save the current filters of a list under a name."""
    form, list_name = call.form, call.form.text("list")
    if list_name not in PLACES or not call.may(PLACES[list_name][2]):
        raise UsageError(f"Views can be saved for these lists: {', '.join(PLACES)}.")
    filters = {name: form.text(name) for name in LISTS[list_name]}
    back = within(form.text("back"), PLACES[list_name][1])
    try:
        async with call.context.database.transaction() as connection:
            made = await saved_views.save(
                connection,
                call.member,
                list_name,
                form.text("name"),
                filters,
                is_shared=form.is_on("shared"),
            )
            if form.is_on("default"):
                await saved_views.begin_with(connection, call.member, made)
    except (UsageError, ConflictError) as error:
        return call.go(back, str(error), "danger")
    return call.go(address(list_name, made.filters), f"The view {made.name} was saved.")


async def change(call: ConsoleRequest) -> Response:
    """Apply one action to one view."""
    acts: dict[str, Action] = {
        "share": _share,
        "unshare": _unshare,
        "begin": _begin,
        "plain": _plain,
        "delete": _delete,
    }
    act = call.form.text("act")
    if act not in acts:
        raise UsageError(f"The action must be one of {', '.join(acts)}.")
    async with call.context.database.transaction() as connection:
        view = await saved_views.get(connection, call.member, _view_id(call))
        message = await acts[act](connection, call, view)
    return call.go("/views", message)


async def _share(connection: Connection, call: ConsoleRequest, view: SavedView) -> str:
    await saved_views.share(connection, call.member, view, is_shared=True)
    return f"{view.name} is now shared with everyone."


async def _unshare(connection: Connection, call: ConsoleRequest, view: SavedView) -> str:
    await saved_views.share(connection, call.member, view, is_shared=False)
    return f"{view.name} is now private."


async def _begin(connection: Connection, call: ConsoleRequest, view: SavedView) -> str:
    await saved_views.begin_with(connection, call.member, view)
    return f"{PLACES[view.list][0]} now opens with {view.name}."


async def _plain(connection: Connection, call: ConsoleRequest, view: SavedView) -> str:
    await saved_views.begin_with(connection, call.member, view, wanted=False)
    return f"{PLACES[view.list][0]} now opens without filters."


async def _delete(connection: Connection, call: ConsoleRequest, view: SavedView) -> str:
    await saved_views.remove(connection, call.member, view)
    return f"The view {view.name} was deleted."


def _view_id(call: ConsoleRequest) -> UUID:
    view_id = as_uuid(call.part("view_id"))
    if view_id is None:
        raise NotFoundError("No such view.")
    return view_id


async def _page(call: ConsoleRequest) -> Response:
    found = await saved_views.listing(call.context.database, call.member)
    shown = [
        (title, path, [view for view in found if view.list == name])
        for name, (title, path, act) in PLACES.items()
        if call.may(act)
    ]
    return await call.page("views/page.html", lists=shown, address=address)


SCREENS = (
    get("/views", Act.ACCOUNT_OWN, show),
    post("/views", Act.ACCOUNT_OWN, save),
    post("/views/{view_id}", Act.ACCOUNT_OWN, change),
)
