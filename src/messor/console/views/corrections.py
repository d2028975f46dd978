"""Correcting: a reviewer says what a field of a product should be, or that it is right."""

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
        await _say(call, record_id)
    except (ConflictError, UsageError) as error:
        return await record_page(call, record_id, wrong=str(error))
    said = "Noted. The record stays as it was read; parsers learn from what you said."
    return call.go(f"/records/{record_id}", said)


async def _say(call: ConsoleRequest, record_id: int) -> None:
    name, verdict = call.form.text("field").strip(), call.form.text("verdict")
    if verdict not in VERDICTS:
        raise UsageError("Say what the field should be, that it is right, or that there is none.")
    async with call.desk.database.transaction() as connection:
        if verdict == "right":
            await corrections.confirm(connection, record_id, name, actor=call.actor)
        else:
            value = call.form.text("value") if verdict == "value" else None
            await corrections.correct(connection, record_id, name, value, actor=call.actor)


SCREENS = (post("/records/{record_id:int}/corrections", Act.DOMAINS_REVIEW, correct),)
