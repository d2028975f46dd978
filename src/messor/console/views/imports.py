"""Manual import of pages saved in a browser, without a request to the site."""

from __future__ import annotations

from io import BufferedReader, BytesIO
from typing import cast

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.addresses import with_query
from messor.console.call import ConsoleRequest
from messor.console.screens import get, upload
from messor.console.views.ingest import import_path, orbit_of
from messor.errors import UsageError
from messor.imports.import_run import ImportReport, import_pages
from messor.imports.sources import Source
from messor.registry.domains import Submission
from messor.web.urls import parse


async def show(call: ConsoleRequest) -> Response:
    """The upload form."""
    return await _page(call)


async def _page(call: ConsoleRequest, *, wrong: str | None = None) -> Response:
    slug, orbit = await orbit_of(call)
    known = f"https://{orbit.domain}/" if orbit and orbit.domain else ""
    form_values = {
        "address": call.form.text("address") if wrong else call.query("address") or known
    }
    return await call.page(
        "import/saved.html",
        status=422 if wrong else 200,
        slug=slug,
        orbit=orbit,
        form_values=form_values,
        wrong=wrong,
    )


async def upload_page(call: ConsoleRequest) -> Response:
    """Import one file; this approves its domain for the imported pages."""
    try:
        report = await _import(call)
    except UsageError as error:
        return await _page(call, wrong=str(error))
    if not report.has_pages:
        return await _page(call, wrong=_failure_message(report))
    counted = ", ".join(f"{count} {outcome}" for outcome, count in sorted(report.counts.items()))
    message = f"Imported without a request: {counted}. List the page below to create tiles from it."
    address = call.form.text("address").strip()
    return call.go(
        with_query(import_path(call.part("slug")), mode="user_assisted", address=address), message
    )


async def _import(call: ConsoleRequest) -> ImportReport:
    file, address = call.form.file("file"), call.form.text("address").strip()
    if file is None or not file.body:
        raise UsageError("Choose a saved page: HTML, MHTML, HAR or WARC.")
    if parse(address) is None:
        raise UsageError("Enter the original URL of the page, such as https://example.org/about.")
    submission = Submission.understand(address)
    stream = cast("BufferedReader", BufferedReader(BytesIO(file.body)))
    return await import_pages(
        call.context.database,
        call.context.settings,
        [Source(stream, address, file.name or "upload")],
        actor=call.actor,
        only={submission.domain},
        approve=[submission],
    )


def _failure_message(report: ImportReport) -> str:
    for result in report.results:
        if result.reason:
            return f"Nothing was imported: {result.reason}."
    message = report.warnings[0] if report.warnings else "the file contains no page."
    return f"Nothing was imported: {message}"


SCREENS = (
    get("/orbit/{slug}/import/saved", Act.READ, show),
    upload("/orbit/{slug}/import/saved", Act.DOMAINS_IMPORT, upload_page),
)
