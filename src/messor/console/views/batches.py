"""Batches: many URLs pasted or uploaded at once, and the result of each line."""

from __future__ import annotations

from datetime import timedelta
from io import BytesIO

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.addresses import with_query
from messor.console.call import ConsoleRequest
from messor.console.forms import Form
from messor.console.screens import get, upload
from messor.console.views.tasks import as_uuid
from messor.errors import UsageError
from messor.frontier import batches, queries
from messor.frontier.batch_lines import FORMATS, guess_format
from messor.frontier.cadence import parse_interval
from messor.frontier.tasks import DEFAULT_PRIORITY, LOWEST_PRIORITY

PER_PAGE = 50
PASTED = "pasted"


async def show_all(call: ConsoleRequest) -> Response:
    before = as_uuid(call.query("before"))
    rows = await queries.batches(call.context.database, before=before, limit=PER_PAGE + 1)
    more = with_query("/batches", before=rows[PER_PAGE - 1].id) if len(rows) > PER_PAGE else None
    names = await call.names({row.submitted_by for row in rows})
    return await call.page(
        "tasks/batches.html",
        rows=rows[:PER_PAGE],
        more=more,
        first="/batches" if before else None,
        names=names,
    )


async def show(call: ConsoleRequest) -> Response:
    """One batch with its rejected lines."""
    batch_id, after = as_uuid(call.part("batch_id")), call.query("after")
    assert batch_id is not None
    batch = await queries.batch(call.context.database, batch_id)
    start = int(after) if after.isdecimal() and len(after) < 10 else 0
    rows = await queries.batch_errors(
        call.context.database, batch_id, after=start, limit=PER_PAGE + 1
    )
    path = f"/batches/{batch_id}"
    more = with_query(path, after=rows[PER_PAGE - 1]["line"]) if len(rows) > PER_PAGE else None
    return await call.page(
        "tasks/batch.html",
        batch=batch,
        rows=rows[:PER_PAGE],
        more=more,
        first=path if start else None,
        names=await call.names({batch.submitted_by}),
    )


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
