"""Records: the list by kind, domain, parser and confidence, and one record with its evidence."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import evidence
from messor.console.addresses import with_query
from messor.console.call import ConsoleRequest
from messor.console.screens import get
from messor.content.products.pool import NORMALISER_OF
from messor.errors import UsageError
from messor.parsers.page_reading import installed_parsers
from messor.records import corrections, queries
from messor.records.queries import RecordFilter
from messor.registry.domains import Submission

PER_PAGE = 50
HISTORY = 50
STATES = {"": "Current", "removed": "Removed", "all": "Current and removed"}
CONFIDENCE_RANGES = {"": (0.0, 1.0), "high": (0.8, 1.0), "middle": (0.5, 0.8), "low": (0.0, 0.5)}


async def show_all(call: ConsoleRequest) -> Response:
    given = filters_of_query(call)
    found = await queries.records(
        call.context.database, _wanted(given), before=number(call, "before"), limit=PER_PAGE
    )
    more = with_query("/records", before=found.reached, **given) if found.reached else None
    return await call.page(
        "records/list.html",
        rows=found.records,
        more=more,
        first=with_query("/records", **given) if call.query("before") else None,
        given=given,
        kinds=await queries.kinds(call.context.database),
        parsers=sorted({parser.name for parser in installed_parsers()}),
        states=STATES,
        tone=evidence.tone,
    )


async def show(call: ConsoleRequest) -> Response:
    return await record_page(call, call.number("record_id"))


async def record_page(
    call: ConsoleRequest, record_id: int, *, wrong: str | None = None
) -> Response:
    """One record; products include their corrections."""
    database = call.context.database
    record = await queries.record(database, record_id)
    made = await corrections.listing(database, record_id=record.id)
    history = await queries.history(
        database, record.id, before=number(call, "before"), limit=HISTORY + 1
    )
    older = history[HISTORY - 1].id if len(history) > HISTORY else None
    return await call.page(
        "records/record.html",
        status=422 if wrong else 200,
        wrong=wrong,
        corrections_made=made,
        correctable=sorted(NORMALISER_OF) if record.kind == corrections.KIND else (),
        names=await call.names({one.said_by for one in made}),
        record=record,
        fields=evidence.display_fields(record),
        history=history[:HISTORY],
        older=with_query(f"/records/{record.id}", before=older) if older else None,
        is_first=not call.query("before"),
        as_text=evidence.as_text,
        tone=evidence.tone,
    )


def filters_of_query(call: ConsoleRequest) -> dict[str, str]:
    """Filters from the query string; unknown values are ignored."""
    state, sure = call.query("state"), call.query("sure")
    return {
        "kind": call.query("kind").strip()[:100],
        "domain": domain(call),
        "parser": call.query("parser").strip()[:100],
        "state": state if state in STATES else "",
        "sure": sure if sure in CONFIDENCE_RANGES else "",
    }


def domain(call: ConsoleRequest) -> str:
    """The domain of a name, host or URL; otherwise the text as typed."""
    typed = call.query("domain").strip()[:2_000]
    try:
        return Submission.understand(typed).domain
    except UsageError:
        return typed.lower()[:253]


def number(call: ConsoleRequest, name: str) -> int | None:
    """An integer of the query string; None when malformed."""
    typed = call.query(name)
    return int(typed) if typed.isdecimal() and typed.isascii() and len(typed) < 19 else None


def _wanted(given: dict[str, str]) -> RecordFilter:
    states: dict[str, Any] = {"": "current", "removed": "removed", "all": None}
    minimum, maximum = CONFIDENCE_RANGES[given["sure"]]
    return RecordFilter(
        kind=given["kind"] or None,
        domain=given["domain"] or None,
        parser=given["parser"] or None,
        state=states[given["state"]],
        least=minimum,
        most=maximum,
    )


SCREENS = (
    get("/records", Act.READ, show_all),
    get("/records/{record_id:int}", Act.READ, show),
)
