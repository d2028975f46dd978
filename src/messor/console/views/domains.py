"""The list of domains: views, filters, search and order."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import saved
from messor.console.addresses import with_query
from messor.console.call import ConsoleRequest
from messor.console.screens import get
from messor.records import queries as extracted
from messor.records.queries import LISTED
from messor.registry import console_queries
from messor.registry.console_queries import MOST, ORDERS, VIEWS, DomainView
from messor.registry.submissions import SUBMITTERS

PER_PAGE = 50


async def show(call: ConsoleRequest) -> Response:
    if (opened := await saved.opening(call, "domains")) is not None:
        return opened
    filters, number = _filters(call), _page_number(call)
    rows, found = await console_queries.look_through(
        call.context.database, filters, limit=PER_PAGE, offset=(number - 1) * PER_PAGE
    )
    records = await extracted.by_domain(call.context.database, [row.id for row in rows])
    values: dict[str, Any] = {
        "rows": rows,
        "records": {key: f"{LISTED}+" if n > LISTED else str(n) for key, n in records.items()},
        "found": found,
        "filters": filters,
        "number": number,
        "last": max(1, -(-min(found, MOST) // PER_PAGE)),
        "link": lambda **changes: _link(filters, **changes),
        "views": tuple(VIEWS),
        "orders": tuple(ORDERS),
        "saved": await saved.bar(call, "domains", _changed_filters(filters)),
    }
    if call.is_partial:
        return call.bare("domains/rows.html", **values)
    counts = await console_queries.counts(call.context.database)
    return await call.page("domains/list.html", counts=counts, **values)


def _filters(call: ConsoleRequest) -> DomainView:
    """Filters from the query string; unknown values are ignored."""
    view, order, submitter = call.query("view"), call.query("order"), call.query("submitter")
    return DomainView(
        view=view if view in VIEWS else "all",
        order=order if order in ORDERS else "name",
        containing=call.query("q").strip().lower()[:253] or None,
        submitter_type=submitter if submitter in SUBMITTERS else None,
        trusted=call.query("trusted") == "yes",
    )


def _page_number(call: ConsoleRequest) -> int:
    typed = call.query("page")
    number = int(typed) if typed.isdecimal() and len(typed) < 6 else 1
    return min(max(number, 1), MOST // PER_PAGE)


def _link(filters: DomainView, **changes: object) -> str:
    return with_query("/domains", **{**_changed_filters(filters), **changes})


def _changed_filters(filters: DomainView) -> dict[str, object]:
    """Filters that differ from the defaults, as named in URLs and saved views."""
    return {
        "view": filters.view if filters.view != "all" else "",
        "order": filters.order if filters.order != "name" else "",
        "q": filters.containing,
        "submitter": filters.submitter_type,
        "trusted": "yes" if filters.trusted else "",
    }


SCREENS = (get("/domains", Act.READ, show),)
