"""Access requests: a form that finds what is held on a person, hands it over, or erases it."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.errors import UsageError
from messor.governance import person_data, promotion
from messor.governance.person_data import PersonData

PATH = "/persons"


async def show(call: ConsoleRequest) -> Response:
    return await _page(call)


async def _page(
    call: ConsoleRequest,
    found: PersonData | None = None,
    *,
    wrong: str | None = None,
    names: str = "",
) -> Response:
    status = 422 if wrong else 200
    return await call.page(
        "persons/form.html", status=status, wrong=wrong, found=found, names=names
    )


async def find(call: ConsoleRequest) -> Response:
    typed = call.form.text("names")
    try:
        names = typed.splitlines()
        found = await person_data.find(call.context.database, names, actor=call.actor)
    except UsageError as error:
        return await _page(call, wrong=str(error), names=typed)
    return await _page(call, found, names=typed)


async def export(call: ConsoleRequest) -> Response:
    typed = call.form.text("names")
    try:
        names = typed.splitlines()
        data = await person_data.handed_over(call.context.database, names, actor=call.actor)
    except UsageError as error:
        return await _page(call, wrong=str(error), names=typed)
    headers = {"Content-Disposition": 'attachment; filename="person.zip"'}
    return Response(data, media_type="application/zip", headers=headers)


async def erase(call: ConsoleRequest) -> Response:
    typed, database = call.form.text("names"), call.context.database
    try:
        done = await person_data.erase(
            database,
            typed.splitlines(),
            actor=call.actor,
            reason=call.form.text("reason"),
            with_pages=call.form.text("with_pages") == "on",
        )
    except UsageError as error:
        return await _page(call, wrong=str(error), names=typed)
    await promotion.let_go(call.context.settings, database)
    left = len(done.left) + len(done.pages_left)
    told = f"Erased: {done.pages_erased} pages, {done.members_erased} accounts."
    if left:
        told += " The name still occurs: look for it again to see where."
    return call.go(PATH, told)


SCREENS = (
    get(PATH, Act.DATA_ERASE, show),
    post(f"{PATH}/find", Act.DATA_ERASE, find),
    post(f"{PATH}/export", Act.DATA_ERASE, export),
    post(f"{PATH}/erase", Act.DATA_ERASE, erase),
)
