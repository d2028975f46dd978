"""The list of domains: views, filters, search and order."""

from __future__ import annotations

from typing import Any, get_args

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import labels, saved
from messor.console.call import ConsoleRequest
from messor.console.listing import list_of
from messor.console.screens import get
from messor.records import queries as extracted
from messor.records.queries import LISTED
from messor.registry import queries
from messor.registry.queries import DOMAINS, View
from messor.store.listing import MAX_COUNTED

LABELS = {
    "submitter_type": labels.SUBMITTERS,
    "processing": labels.PROCESSING,
    "status": {key: label for key, (label, _) in labels.STATUS.items()},
}


async def show(call: ConsoleRequest) -> Response:
    if (opened := await saved.opening(call, "domains")) is not None:
        return opened
    database = call.context.database
    listed = await list_of(call, DOMAINS, "/domains", labels=LABELS)
    records = await extracted.by_domain(database, [row.id for row in listed.items])
    values: dict[str, Any] = {
        "listed": listed,
        "here": listed.link(),
        "records": {key: f"{LISTED}+" if n > LISTED else str(n) for key, n in records.items()},
        "found": await DOMAINS.count(database, listed.filters),
        "most": MAX_COUNTED,
        "saved": await saved.bar(call, "domains", listed.given),
    }
    if call.is_partial:
        return call.bare("domains/rows.html", **values)
    counts = await queries.counts(database)
    return await call.page(
        "domains/list.html", counts=counts, views=("", *get_args(View)), **values
    )


SCREENS = (get("/domains", Act.READ, show),)
