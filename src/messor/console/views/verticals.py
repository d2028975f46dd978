"""Verticals: list, details, upload with preview, and organisations."""

from __future__ import annotations

from typing import Any

from starlette.responses import PlainTextResponse, Response

from messor.access.roles import Act
from messor.console import discovery_labels
from messor.console.call import ConsoleRequest
from messor.console.listing import list_of
from messor.console.screens import get, upload
from messor.errors import ConflictError, UsageError
from messor.scout import candidate_queries
from messor.verticals import differences, files, organisation_import, verticals
from messor.verticals.files import VerticalFile
from messor.verticals.organisation_import import LineReport
from messor.verticals.queries import ORGANISATIONS
from messor.verticals.verticals import Applied

MAX_REPORTED = 200


async def show_all(call: ConsoleRequest) -> Response:
    """The applied verticals and the bundled ones."""
    _, values = await discovery_labels.about(call)
    applied = {one.vertical.name for one in values["known"]}
    shipped = [files.shipped(name).vertical for name in files.SHIPPED if name not in applied]
    actors = {one.applied_by for one in values["known"]}
    return await call.page(
        "verticals/list.html", shipped=shipped, names=await call.names(actors), **values
    )


async def show(call: ConsoleRequest) -> Response:
    """One vertical with its versions, and changes in a newer bundled version."""
    applied, values = await discovery_labels.about(call, call.part("name"))
    assert applied is not None
    database, vertical = call.context.database, applied.vertical
    versions = await verticals.history(database, applied)
    waiting = await candidate_queries.counts(database, vertical.name)
    return await call.page(
        "verticals/vertical.html",
        versions=versions,
        candidates=waiting,
        newer=_newer(applied),
        names=await call.names({one.applied_by for one in versions}),
        **values,
    )


async def show_file(call: ConsoleRequest) -> Response:
    """Download the file, for editing and uploading again."""
    applied = await verticals.get(call.context.database, call.part("name"))
    name = applied.vertical.name
    headers = {"Content-Disposition": f'attachment; filename="{name}.toml"'}
    return PlainTextResponse(applied.source, headers=headers)


async def show_new(call: ConsoleRequest) -> Response:
    return await _form(call)


async def apply(call: ConsoleRequest) -> Response:
    """Publish a bundled vertical or an uploaded file, or preview its changes."""
    try:
        file = await _given(call)
        if call.form.text("act") != "apply":
            return await _preview(call, file)
        async with call.context.database.transaction() as connection:
            applied, changes = await verticals.apply(connection, file, actor=call.actor)
    except (UsageError, ConflictError) as error:
        return await _form(call, wrong=str(error), status=422)
    name = applied.vertical.name
    what = f"{len(changes)} changes" if changes else "no changes"
    message = f"Published {name} version {applied.vertical.version}: {what}."
    return call.go(f"/verticals/{name}", message)


async def show_organisations(call: ConsoleRequest) -> Response:
    return await _organisations(call)


async def add_organisations(call: ConsoleRequest) -> Response:
    """Import organisations from CSV, with a report per line."""
    applied = await discovery_labels.required(call, call.part("name"))
    try:
        reports = await organisation_import.import_csv(
            call.context.database, applied, _text(call, "lines"), actor=call.actor
        )
    except UsageError as error:
        return await _organisations(call, wrong=str(error), status=422)
    refused = [one for one in reports if one.outcome == "refused"]
    if refused:
        return await _organisations(call, reports=reports[:MAX_REPORTED], status=422)
    counted = {one.outcome for one in reports}
    message = ", ".join(
        f"{sum(o.outcome == kind for o in reports)} {kind}" for kind in sorted(counted)
    )
    return call.go(
        f"/verticals/{applied.vertical.name}/organisations", f"Organisations: {message}."
    )


async def _given(call: ConsoleRequest) -> VerticalFile:
    name = call.form.words("name")
    if name is not None:
        return files.shipped(name)
    source = _text(call, "source")
    if not source.strip():
        raise UsageError("Choose a file or paste its text.")
    if len(source.encode("utf-8", "replace")) > files.MAX_BYTES:
        raise UsageError(f"The vertical file exceeds {files.MAX_BYTES} bytes.")
    return files.understand(source, "The file")


def _text(call: ConsoleRequest, name: str) -> str:
    """The text of the uploaded file, or else of the field."""
    sent = call.form.file("file")
    if sent is None:
        return call.form.text(name)
    try:
        return sent.body.decode("utf-8-sig").replace("\x00", "")
    except UnicodeDecodeError as error:
        raise UsageError(f"The file is not valid UTF-8 at byte {error.start}.") from error


async def _preview(call: ConsoleRequest, file: VerticalFile) -> Response:
    before = await verticals.find(call.context.database, file.vertical.name)
    changes = differences.between(before.vertical if before else None, file.vertical)
    return await _form(call, file=file, before=before, changes=changes)


async def _form(
    call: ConsoleRequest, *, wrong: str | None = None, status: int = 200, **given: Any
) -> Response:
    _, values = await discovery_labels.about(call)
    filled = {"file": None, "before": None, "changes": None, **given}
    source = filled["file"].source if filled["file"] else call.form.text("source")
    return await call.page(
        "verticals/new.html", status=status, wrong=wrong, source=source, **filled, **values
    )


async def _organisations(
    call: ConsoleRequest,
    *,
    wrong: str | None = None,
    reports: list[LineReport] | None = None,
    status: int = 200,
) -> Response:
    applied, values = await discovery_labels.about(call, call.part("name"))
    assert applied is not None
    name = applied.vertical.name
    listed = await list_of(call, ORGANISATIONS, f"/verticals/{name}/organisations", vertical=name)
    return await call.page(
        "verticals/organisations.html",
        status=status,
        listed=listed,
        wrong=wrong,
        reports=reports or [],
        lines=call.form.text("lines"),
        **values,
    )


def _newer(applied: Applied) -> tuple[VerticalFile, list[differences.KeyDifference]] | None:
    """A newer bundled version and its changes, if there is one."""
    name = applied.vertical.name
    if name not in files.SHIPPED:
        return None
    file = files.shipped(name)
    if file.vertical.version <= applied.vertical.version:
        return None
    return file, differences.between(applied.vertical, file.vertical)


SCREENS = (
    get("/verticals", Act.READ, show_all),
    get("/verticals/new", Act.DOMAINS_CONFIGURE, show_new),
    upload("/verticals", Act.DOMAINS_CONFIGURE, apply),
    get("/verticals/{name}", Act.READ, show),
    get("/verticals/{name}/file", Act.READ, show_file),
    get("/verticals/{name}/organisations", Act.READ, show_organisations),
    upload("/verticals/{name}/organisations", Act.DOMAINS_CONFIGURE, add_organisations),
)
