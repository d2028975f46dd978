"""Records: what pages state, found by kind, domain, parser and confidence; each with its evidence."""

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
STATES = {"": "standing", "removed": "gone", "all": "both"}
SURE = {"": (0.0, 1.0), "high": (0.8, 1.0), "middle": (0.5, 0.8), "low": (0.0, 0.5)}


async def show_all(call: ConsoleRequest) -> Response:
    given = narrowed(call)
    found = await queries.records(
        call.desk.database, _wanted(given), before=number(call, "before"), limit=PER_PAGE
    )
    more = with_query("/records", before=found.reached, **given) if found.reached else None
    return await call.page(
        "records/list.html",
        rows=found.records,
        more=more,
        first=with_query("/records", **given) if call.query("before") else None,
        given=given,
        kinds=await queries.kinds(call.desk.database),
        parsers=sorted({parser.name for parser in installed_parsers()}),
        states=STATES,
        tone=evidence.tone,
    )


async def show(call: ConsoleRequest) -> Response:
    return await record_page(call, call.number("record_id"))


async def record_page(
    call: ConsoleRequest, record_id: int, *, wrong: str | None = None
) -> Response:
    """One record; a product with what reviewers said of it."""
    database = call.desk.database
    record = await queries.record(database, record_id)
    said = await corrections.listing(database, record_id=record.id)
    history = await queries.history(
        database, record.id, before=number(call, "before"), limit=HISTORY + 1
    )
    older = history[HISTORY - 1].id if len(history) > HISTORY else None
    return await call.page(
        "records/record.html",
        status=422 if wrong else 200,
        wrong=wrong,
        said_of_it=said,
        correctable=sorted(NORMALISER_OF) if record.kind == corrections.KIND else (),
        names=await call.names({one.said_by for one in said}),
        record=record,
        fields=evidence.shown(record.fields, record.page_id, record.snapshot_id),
        history=history[:HISTORY],
        older=with_query(f"/records/{record.id}", before=older) if older else None,
        is_first=not call.query("before"),
        told=evidence.said,
        tone=evidence.tone,
    )


def narrowed(call: ConsoleRequest) -> dict[str, str]:
    """What the address asks for; what it does not know is as if it was not there."""
    state, sure = call.query("state"), call.query("sure")
    return {
        "kind": call.query("kind").strip()[:100],
        "domain": domain(call),
        "parser": call.query("parser").strip()[:100],
        "state": state if state in STATES else "",
        "sure": sure if sure in SURE else "",
    }


def domain(call: ConsoleRequest) -> str:
    """The domain that is meant, by its name, a host of it or an address; else what was typed."""
    typed = call.query("domain").strip()[:2_000]
    try:
        return Submission.understand(typed).domain
    except UsageError:
        return typed.lower()[:253]


def number(call: ConsoleRequest, name: str) -> int | None:
    """A whole number of the address, None for anything else."""
    typed = call.query(name)
    return int(typed) if typed.isdecimal() and typed.isascii() and len(typed) < 19 else None


def _wanted(given: dict[str, str]) -> RecordFilter:
    states: dict[str, Any] = {"": "current", "removed": "removed", "all": None}
    least, most = SURE[given["sure"]]
    return RecordFilter(
        kind=given["kind"] or None,
        domain=given["domain"] or None,
        parser=given["parser"] or None,
        state=states[given["state"]],
        least=least,
        most=most,
    )


SCREENS = (
    get("/records", Act.READ, show_all),
    get("/records/{record_id:int}", Act.READ, show),
)
