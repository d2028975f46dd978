"""Corrections: a person gives a field of a record another value, confirms it, or takes that back."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.listing import list_of
from messor.console.screens import get, post
from messor.console.views.records import CORRECTION_STATES, record_page
from messor.errors import ConflictError, UsageError
from messor.records import correction_queries, corrections
from messor.records.correction_queries import CORRECTIONS

VERDICTS = ("value", "right", "none")
DONE = "Correction saved. It is in force now and stays until the page itself changes."
CONFIRMED = "Saved: the page's own value is correct."


async def show_all(call: ConsoleRequest) -> Response:
    listed = await list_of(call, CORRECTIONS, "/corrections", labels={"state": CORRECTION_STATES})
    names = await call.names({one.corrected_by for one in listed.items})
    return await call.page(
        "records/correction_list.html", listed=listed, names=names, states=CORRECTION_STATES
    )


async def correct(call: ConsoleRequest) -> Response:
    record_id = call.number("record_id")
    try:
        message = await _save(call, record_id)
    except (ConflictError, UsageError) as error:
        return await record_page(call, record_id, wrong=str(error))
    return call.go(_back(call, record_id), message)


async def withdraw(call: ConsoleRequest) -> Response:
    found = await correction_queries.correction(call.context.database, call.number("correction_id"))
    try:
        async with call.context.database.transaction() as connection:
            await corrections.withdraw(connection, found.id, actor=call.actor)
    except ConflictError as error:
        return await record_page(call, found.record_id, wrong=str(error))
    name = found.field.replace("_", " ")
    return call.go(_back(call, found.record_id), f"The page's own {name} is back.")


async def _save(call: ConsoleRequest, record_id: int) -> str:
    name, verdict = call.form.text("field").strip(), call.form.text("verdict")
    if verdict not in VERDICTS:
        raise UsageError("Choose a correction: a new value, correct, or not stated.")
    reason = call.form.text("reason") or None
    async with call.context.database.transaction() as connection:
        if verdict == "right":
            await corrections.confirm(connection, record_id, name, actor=call.actor, reason=reason)
            return CONFIRMED
        value = call.form.text("value") if verdict == "value" else None
        made = await corrections.correct(
            connection, record_id, name, value, actor=call.actor, reason=reason
        )
    return CONFIRMED if made.state == "lesson" else DONE


def _back(call: ConsoleRequest, record_id: int) -> str:
    """The product's page where the form stood there; any other place is ignored."""
    kind, _, number = call.form.text("back").lstrip("/").partition("/")
    if kind == "products" and number.isdecimal() and len(number) < 20:
        return f"/products/{number}"
    return f"/records/{record_id}"


SCREENS = (
    get("/corrections", Act.READ, show_all),
    post("/records/{record_id:int}/corrections", Act.DOMAINS_REVIEW, correct),
    post("/corrections/{correction_id:int}/withdraw", Act.DOMAINS_REVIEW, withdraw),
)
