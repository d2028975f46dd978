"""Records: the list by kind, domain, parser and confidence, and one record with its evidence."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import evidence
from messor.console.call import ConsoleRequest
from messor.console.listing import list_of
from messor.console.screens import get
from messor.entities import queries as entity_queries
from messor.parsers.page_reading import installed_parsers
from messor.records import correction_queries, queries
from messor.records.queries import RECORD_CHANGES, RECORDS
from messor.records.typed_values import field_names

STATES = {"all": "current and removed"}
CORRECTION_STATES = {
    "in_force": "in force",
    "lapsed": "ended: the page changed",
    "withdrawn": "withdrawn",
    "replaced": "replaced",
    "lesson": "confirmed",
}


async def show_all(call: ConsoleRequest) -> Response:
    choices = {
        "kind": tuple(await queries.kinds(call.context.database)),
        "parser": tuple(sorted({parser.name for parser in installed_parsers()})),
    }
    listed = await list_of(call, RECORDS, "/records", choices=choices, labels={"state": STATES})
    return await call.page("records/list.html", listed=listed, tone=evidence.tone)


async def show(call: ConsoleRequest) -> Response:
    return await record_page(call, call.number("record_id"))


async def record_page(
    call: ConsoleRequest, record_id: int, *, wrong: str | None = None
) -> Response:
    """One record with its corrections."""
    database = call.context.database
    record = await queries.record(database, record_id)
    made = await correction_queries.of_record(database, record.id)
    path = f"/records/{record.id}"
    history = await list_of(call, RECORD_CHANGES, path, record_id=record.id)
    return await call.page(
        "records/record.html",
        status=422 if wrong else 200,
        wrong=wrong,
        corrections_made=made,
        absent=[name for name in field_names(record.kind) if name not in record.fields],
        states=CORRECTION_STATES,
        names=await call.names({one.corrected_by for one in made}),
        record=record,
        things=await entity_queries.of_record(database, record.id),
        fields=evidence.display_fields(record, made),
        history=history,
        as_text=evidence.as_text,
        tone=evidence.tone,
    )


SCREENS = (
    get("/records", Act.READ, show_all),
    get("/records/{record_id:int}", Act.READ, show),
)
