"""Batches: many addresses pasted or uploaded at once, and what became of each line."""

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
    rows = await queries.batches(call.desk.database, before=before, limit=PER_PAGE + 1)
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
    """One batch, and the lines that were not taken."""
    batch_id, after = as_uuid(call.part("batch_id")), call.query("after")
    assert batch_id is not None
    batch = await queries.batch(call.desk.database, batch_id)
    start = int(after) if after.isdecimal() and len(after) < 10 else 0
    rows = await queries.batch_errors(call.desk.database, batch_id, after=start, limit=PER_PAGE + 1)
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
    """Take the lines in; the page that follows tells of each that was not taken."""
    try:
        report = await _take(call)
    except UsageError as error:
        return await _form(call, wrong=str(error), status=422)
    said = f"{report.accepted:,} of {report.lines:,} lines were taken; they are due now."
    if report.duplicates:
        said += f" {report.duplicates:,} named the same page as one before."
    tone = "warning" if report.rejected or not report.accepted else "success"
    return call.go(f"/batches/{report.id}", said, tone)


async def _take(call: ConsoleRequest) -> batches.BatchReport:
    form = call.form
    body, source = _body(form)
    given = form.text("format")
    if given and given not in FORMATS:
        raise UsageError(f"The format can be {', '.join(FORMATS)}.")
    kind = given or guess_format(source, body[:2_000])
    submitter = batches.BatchSubmitter(
        call.desk.database, actor=call.actor, priority=_priority(form), frequency=_rhythm(form)
    )
    lines = batches.lines_of(BytesIO(body), kind)
    name = form.words("name") or source
    return await submitter.submit(lines, name=name, source=source, form=kind)


def _body(form: Form) -> tuple[bytes, str]:
    """What was uploaded, else what was pasted."""
    file = form.file("file")
    if file is not None and file.body:
        return file.body, file.name or "upload"
    pasted = form.words("lines")
    if pasted is None:
        raise UsageError("Paste addresses, one per line, or choose a file.")
    return pasted.encode("utf-8", "replace"), PASTED


def _priority(form: Form) -> int:
    given = form.whole("priority", "Priority")
    if given is None:
        return DEFAULT_PRIORITY
    if not 1 <= given <= LOWEST_PRIORITY:
        raise UsageError(f"Priority: from 1, the highest, to {LOWEST_PRIORITY}.")
    return given


def _rhythm(form: Form) -> timedelta | None:
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
