"""The saved-view bar above a list, and the default view a list opens with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from messor.access import saved_views
from messor.access.roles import Act
from messor.access.saved_views import SavedView
from messor.console.addresses import with_query
from messor.console.call import ConsoleRequest

# Title, path and required permission of each list.
PLACES: Mapping[str, tuple[str, str, Act]] = {
    "domains": ("Domains", "/domains", Act.READ),
    "review": ("Review queue", "/review", Act.DOMAINS_REVIEW),
    "tasks": ("Tasks", "/tasks", Act.READ),
}


@dataclass(frozen=True, slots=True)
class SavedViewBar:
    """The saved views of a list and its current filters."""

    list: str
    views: Sequence[SavedView]
    filters: dict[str, str]

    @property
    def here(self) -> str:
        return address(self.list, self.filters)

    @property
    def everything(self) -> str:
        return address(self.list, {})

    def is_current(self, view: SavedView) -> bool:
        return view.filters == self.filters

    def address(self, view: SavedView) -> str:
        return address(view.list, view.filters)


async def bar(call: ConsoleRequest, list_name: str, given: Mapping[str, object]) -> SavedViewBar:
    """The bar for a list; `given` holds its current filters."""
    non_empty = {
        name: str(value) for name, value in given.items() if value not in (None, "", False)
    }
    found = await saved_views.listing(call.context.database, call.member, list_name)
    return SavedViewBar(list_name, found, saved_views.filters_of(list_name, non_empty))


async def opening(call: ConsoleRequest, list_name: str) -> Response | None:
    """Redirect to the member's default view when the request has no query string."""
    if call.request.url.query or call.is_partial:
        return None
    chosen = await saved_views.default(call.context.database, call.member, list_name)
    return None if chosen is None else call.go(address(list_name, chosen.filters))


def address(list_name: str, filters: Mapping[str, str]) -> str:
    """URL of a filtered list; `all=1` shows everything, because no query opens the default view."""
    path = PLACES[list_name][1]
    return with_query(path, **filters) if filters else f"{path}?all=1"
