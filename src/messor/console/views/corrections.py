"""Corrections: a reviewer states the right value of a product field, or confirms it."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.screens import post
from messor.console.views.records import record_page
from messor.errors import ConflictError, UsageError
from messor.records import corrections

VERDICTS = ("value", "right", "none")


async def correct(call: ConsoleRequest) -> Response:
    record_id = call.number("record_id")
    try:
        await _save(call, record_id)
    except (ConflictError, UsageError) as error:
        return await record_page(call, record_id, wrong=str(error))
    message = "Correction saved. The record is not changed; parsers learn from corrections."
    return call.go(f"/records/{record_id}", message)


async def _save(call: ConsoleRequest, record_id: int) -> None:
    name, verdict = call.form.text("field").strip(), call.form.text("verdict")
    if verdict not in VERDICTS:
        raise UsageError("Choose a correction: a new value, correct, or not stated.")
    async with call.context.database.transaction() as connection:
        if verdict == "right":
            await corrections.confirm(connection, record_id, name, actor=call.actor)
        else:
            value = call.form.text("value") if verdict == "value" else None
            await corrections.correct(connection, record_id, name, value, actor=call.actor)


SCREENS = (post("/records/{record_id:int}/corrections", Act.DOMAINS_REVIEW, correct),)
