"""Exports: files of whole lists, requested from a list's own button, and downloaded here."""

from __future__ import annotations

from typing import Any

from starlette.responses import FileResponse, Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.listing import list_of
from messor.console.screens import get, post
from messor.console.views.batches import as_uuid
from messor.errors import ConflictError, MessorError, UsageError
from messor.exports import queries, requests
from messor.exports.formats import FORMATS, format_of
from messor.exports.nouns import NOUNS, Noun, noun_of
from messor.exports.places import Places
from messor.exports.queries import EXPORTS, Export
from messor.exports.requests import NewExport
from messor.rights.uses import MEANINGS, parsed
from messor.schedule import standing_exports
from messor.schedule.standing_exports import NewStandingExport
from messor.schedule.standing_queries import STANDING_EXPORTS


def _visible(call: ConsoleRequest) -> str | None:
    """Whose exports are shown: all with the right to read the audit log, else one's own."""
    return None if call.may(Act.AUDIT_READ) else call.actor


async def show_all(call: ConsoleRequest) -> Response:
    whose = _visible(call)
    fixed: dict[str, Any] = {} if whose is None else {"requested_by": whose}
    choices = {"noun": tuple(NOUNS)}
    listed = await list_of(call, EXPORTS, "/exports", choices=choices, **fixed)
    names = await call.names({row.requested_by for row in listed.items})
    return await call.page("exports/list.html", listed=listed, names=names, nouns=NOUNS)


async def show_form(call: ConsoleRequest) -> Response:
    """The form of one noun, with the filters of the list it comes from."""
    name = call.query("noun") or next(iter(NOUNS))
    return await _form(call, noun_of(name), {**call.request.query_params})


async def _form(
    call: ConsoleRequest, noun: Noun, given: dict[str, Any], wrong: str = "", status: int = 200
) -> Response:
    kept = {each: given[each] for each in noun.listing.filters.model_fields if given.get(each)}
    return await call.page(
        "exports/form.html", noun=noun, nouns=NOUNS, filters=kept, formats=FORMATS, wrong=wrong,
        since=given.get("since_when", ""), chosen=given.get("format", "csv"), status=status,
        uses=MEANINGS, declared=given.get("use", ""),
    )  # fmt: skip


async def start(call: ConsoleRequest) -> Response:
    """Start the export that the form asks for."""
    form = call.form
    noun = noun_of(form.text("noun"))
    typed = {
        name: form.text(name) for name in (*noun.listing.filters.model_fields, "format", "use")
    }
    typed["since_when"] = form.text("since_when")
    filters = {name: form.words(name) for name in noun.listing.filters.model_fields}
    wanted = NewExport(
        noun.name,
        form.text("format"),
        {name: value for name, value in filters.items() if value is not None},
        bom=form.is_on("bom") and form.text("format") == "csv",
        since=form.words("since_when"),
        uses=parsed(form.every("use")),
    )
    try:
        async with call.context.database.transaction() as connection:
            await requests.begin(
                connection, wanted, actor=call.actor, may_audit=call.may(Act.AUDIT_READ)
            )
    except UsageError as error:
        return await _form(call, noun, typed, str(error), status=422)
    except MessorError as error:
        return call.go("/exports", str(error), "danger")
    return call.go(
        "/exports", "The export has started; its file can be downloaded here when it is done."
    )


async def download(call: ConsoleRequest) -> Response:
    folder = requests.folder_of(call.context.settings)
    async with call.context.database.transaction() as connection:
        found = await _found(call, connection)
        path = await requests.download(connection, folder, found, actor=call.actor)
    return FileResponse(
        path,
        media_type=format_of(found.format).media_type,
        filename=requests.download_name(found),
        headers={"ETag": f'"{found.file_hash}"'},
    )


async def cancel(call: ConsoleRequest) -> Response:
    async with call.context.database.transaction() as connection:
        found = await _found(call, connection)
        await requests.cancel(connection, found, actor=call.actor)
    return call.go("/exports", "The export was cancelled.")


async def _found(call: ConsoleRequest, connection: Any) -> Export:
    export_id = as_uuid(call.part("export_id"))
    return await queries.get(connection, export_id, of=_visible(call))


async def show_standing(call: ConsoleRequest) -> Response:
    return await _standing(call)


async def _standing(
    call: ConsoleRequest, *, wrong: str | None = None, status: int = 200
) -> Response:
    listed = await list_of(
        call, STANDING_EXPORTS, "/exports/standing", choices={"noun": tuple(NOUNS)}
    )
    return await call.page(
        "exports/standing.html", listed=listed, nouns=tuple(NOUNS), formats=tuple(FORMATS), wrong=wrong,
        places=sorted(call.context.settings.export_places), form=call.form, status=status,
        names=await call.names({row.created_by for row in listed.items}),
    )  # fmt: skip


async def add_standing(call: ConsoleRequest) -> Response:
    form = call.form
    wanted = NewStandingExport(
        form.text("name"), form.text("what"), form.text("format"), form.text("cadence"),
        form.text("place"), typed_filters(form.text("filters")),
        is_incremental=form.is_on("incremental"),
    )  # fmt: skip
    places = Places.of_settings(call.context.settings)
    try:
        async with call.context.database.transaction() as connection:
            made = await standing_exports.add(
                connection, wanted, places, actor=call.actor, may_audit=call.may(Act.AUDIT_READ)
            )
    except (UsageError, ConflictError) as error:
        return await _standing(call, wrong=str(error), status=422)
    return call.go("/exports/standing", f"{made.name} will run on its schedule.")


def typed_filters(text: str) -> dict[str, str]:
    """Filters typed as name=value, one per line."""
    found = {}
    for line in text.splitlines():
        name, sign, value = line.partition("=")
        if line.strip() and not sign:
            raise UsageError(f"{line[:60]!r} is not a filter such as domain=shop.example.")
        if sign:
            found[name.strip()] = value.strip()
    return found


async def change_standing(call: ConsoleRequest) -> Response:
    """Switch on or off, or remove."""
    name, act = call.part("name"), call.form.text("act")
    async with call.context.database.transaction() as connection:
        if act == "remove":
            await standing_exports.remove(connection, name, actor=call.actor)
            return call.go("/exports/standing", f"{name} was removed.")
        if act not in ("on", "off"):
            raise UsageError("The action must be on, off or remove.")
        await standing_exports.switch(connection, name, on=act == "on", actor=call.actor)
    return call.go("/exports/standing", f"{name} is {'enabled' if act == 'on' else 'disabled'}.")


SCREENS = (
    get("/exports/standing", Act.DATA_EXPORT, show_standing),
    post("/exports/standing", Act.SCHEDULE_CONTROL, add_standing),
    post("/exports/standing/{name}", Act.SCHEDULE_CONTROL, change_standing),
    get("/exports", Act.DATA_EXPORT, show_all),
    get("/exports/new", Act.DATA_EXPORT, show_form),
    post("/exports", Act.DATA_EXPORT, start),
    get("/exports/{export_id}/file", Act.DATA_EXPORT, download),
    post("/exports/{export_id}/cancel", Act.DATA_EXPORT, cancel),
)
