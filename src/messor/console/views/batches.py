"""Batches: many URLs pasted or uploaded at once, and the result of each line."""

from __future__ import annotations

from datetime import timedelta
from io import BytesIO
from uuid import UUID

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.forms import Form
from messor.console.listing import list_of
from messor.console.screens import get, upload
from messor.errors import NotFoundError, UsageError
from messor.frontier import batch_queries, batches
from messor.frontier.batch_lines import FORMATS, guess_format
from messor.frontier.batch_queries import BATCH_ERRORS, BATCHES
from messor.frontier.cadence import parse_interval
from messor.frontier.tasks import DEFAULT_PRIORITY, LOWEST_PRIORITY

PASTED = "pasted"


async def show_all(call: ConsoleRequest) -> Response:
    listed = await list_of(call, BATCHES, "/batches")
    names = await call.names({row.submitted_by for row in listed.items})
    return await call.page("tasks/batches.html", listed=listed, names=names)


async def show(call: ConsoleRequest) -> Response:
    """One batch with its rejected lines."""
    batch_id = as_uuid(call.part("batch_id"))
    batch = await batch_queries.batch(call.context.database, batch_id)
    errors = await list_of(call, BATCH_ERRORS, f"/batches/{batch_id}", batch_id=batch_id)
    return await call.page(
        "tasks/batch.html",
        batch=batch,
        errors=errors,
        names=await call.names({batch.submitted_by}),
    )


def as_uuid(text: str) -> UUID:
    """Parse a UUID of a path."""
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFoundError("Page not found.") from error


async def show_form(call: ConsoleRequest) -> Response:
    return await _form(call)


async def submit(call: ConsoleRequest) -> Response:
    """Submit the lines, then show the batch with its rejected lines."""
    try:
        report = await _submit_lines(call)
    except UsageError as error:
        return await _form(call, wrong=str(error), status=422)
    message = f"{report.accepted:,} of {report.lines:,} lines were accepted and are due now."
    if report.duplicates:
        message += f" {report.duplicates:,} were duplicates."
    tone = "warning" if report.rejected or not report.accepted else "success"
    return call.go(f"/batches/{report.id}", message, tone)


async def _submit_lines(call: ConsoleRequest) -> batches.BatchReport:
    form = call.form
    body, source = _body(form)
    given = form.text("format")
    if given and given not in FORMATS:
        raise UsageError(f"The format must be one of {', '.join(FORMATS)}.")
    kind = given or guess_format(source, body[:2_000])
    submitter = batches.BatchSubmitter(
        call.context.database,
        actor=call.actor,
        priority=_priority(form),
        frequency=_frequency(form),
    )
    lines = batches.lines_of(BytesIO(body), kind)
    name = form.words("name") or source
    return await submitter.submit(lines, name=name, source=source, form=kind)


def _body(form: Form) -> tuple[bytes, str]:
    """The uploaded file, or else the pasted text."""
    file = form.file("file")
    if file is not None and file.body:
        return file.body, file.name or "upload"
    pasted = form.words("lines")
    if pasted is None:
        raise UsageError("Paste URLs, one per line, or choose a file.")
    return pasted.encode("utf-8", "replace"), PASTED


def _priority(form: Form) -> int:
    given = form.whole("priority", "Priority")
    if given is None:
        return DEFAULT_PRIORITY
    if not 1 <= given <= LOWEST_PRIORITY:
        raise UsageError(f"Priority must be between 1 (highest) and {LOWEST_PRIORITY}.")
    return given


def _frequency(form: Form) -> timedelta | None:
    typed = form.words("frequency")
    return None if typed is None else parse_interval(typed)


async def _form(call: ConsoleRequest, *, wrong: str | None = None, status: int = 200) -> Response:
    return await call.page(
        "tasks/submit.html", status=status, wrong=wrong, form=call.form, formats=FORMATS
    )


SCREENS = (
    get("/batches", Act.READ, show_all),
    get("/batches/new", Act.CRAWL_CONTROL, show_form),
    upload("/batches/new", Act.CRAWL_CONTROL, submit),
    get("/batches/{batch_id}", Act.READ, show),
)
