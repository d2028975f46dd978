"""Find: screens, domains, URLs, and what pages and records say, by a few letters.

Without JavaScript it is a page with a form; the palette of every page asks it for a fragment.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.addresses import domain_path, with_query
from messor.console.call import ConsoleRequest
from messor.console.screens import get
from messor.console.views import search
from messor.errors import UsageError
from messor.insight.search import SearchFilters
from messor.registry.queries import DOMAINS, DomainFilter

MAX_TYPED = 300
MAX_EACH = 6  # shown of each sort
MIN_LETTERS = 3  # before pages and records are searched


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """Something found, and where it is."""

    sort: str
    label: str
    path: str
    detail: str = ""


async def show(call: ConsoleRequest) -> Response:
    typed = call.query("q").strip()[:MAX_TYPED]
    places = await _places(call, typed) if typed else _screens(call, "")
    if call.is_partial:
        return call.bare("find/found.html", typed=typed, places=places)
    return await call.page("find/page.html", typed=typed, places=places)


async def _places(call: ConsoleRequest, typed: str) -> list[FoundPlace]:
    return [
        *_screens(call, typed),
        *_url(typed),
        *await _domains(call, typed),
        *await _texts(call, typed),
    ]


def _screens(call: ConsoleRequest, typed: str) -> list[FoundPlace]:
    entries = [each for group in call.menu for each in group.entries]
    found = [each for each in entries if each.path != "/find" and each.matches(typed)]
    return [
        FoundPlace("screen", each.label, each.path) for each in found[: MAX_EACH if typed else None]
    ]


def _url(typed: str) -> list[FoundPlace]:
    """What is decided about a URL that was pasted."""
    if not typed.startswith(("http://", "https://")):
        return []
    return [FoundPlace("URL", typed, with_query("/why", url=typed), "Is it fetched, and why?")]


async def _domains(call: ConsoleRequest, typed: str) -> list[FoundPlace]:
    part = typed.rpartition("://")[2].partition("/")[0].lower()
    if not part or " " in part or len(part) > 253:
        return []
    found = await DOMAINS.read(call.context.database, DomainFilter(q=part), limit=MAX_EACH)
    return [
        FoundPlace("domain", each.domain, domain_path(each.domain), each.status.replace("_", " "))
        for each in found.items
    ]


async def _texts(call: ConsoleRequest, typed: str) -> list[FoundPlace]:
    """The best pages and records, with the last word taken as the beginning of one."""
    if len(typed) < MIN_LETTERS or "://" in typed:
        return []
    asked = f"{typed}*" if typed[-1].isalnum() else typed
    try:
        found = await call.context.full_text.search(asked, SearchFilters(), limit=MAX_EACH)
    except UsageError:
        return []  # half-typed syntax; the search screen says what is wrong
    places = [
        FoundPlace(
            hit.kind.replace("_", " "), hit.title or hit.url, search.place_of(hit), hit.domain
        )
        for hit in found.hits
    ]
    everything = FoundPlace(
        "search", f"Search everything for “{typed}”", with_query("/search", q=typed)
    )
    return [*places, everything]


SCREENS = (get("/find", Act.READ, show),)
