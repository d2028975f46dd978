"""Manual import: pages that a person saved in their browser, taken in without asking the site."""

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
    """The form for a file that was saved."""
    return await _page(call)


async def _page(call: ConsoleRequest, *, wrong: str | None = None) -> Response:
    slug, orbit = await orbit_of(call)
    known = f"https://{orbit.domain}/" if orbit and orbit.domain else ""
    asked = {"address": call.form.text("address") if wrong else call.query("address") or known}
    return await call.page(
        "import/saved.html",
        status=422 if wrong else 200,
        slug=slug,
        orbit=orbit,
        asked=asked,
        wrong=wrong,
    )


async def take(call: ConsoleRequest) -> Response:
    """Import one file; its domain is approved for its imported pages by that."""
    try:
        report = await _import(call)
    except UsageError as error:
        return await _page(call, wrong=str(error))
    if not report.has_pages:
        return await _page(call, wrong=_why(report))
    counted = ", ".join(f"{count} {outcome}" for outcome, count in sorted(report.counts.items()))
    said = f"Imported without a request: {counted}. Name the page below to make tiles of it."
    address = call.form.text("address").strip()
    return call.go(
        with_query(import_path(call.part("slug")), mode="user_assisted", address=address), said
    )


async def _import(call: ConsoleRequest) -> ImportReport:
    file, address = call.form.file("file"), call.form.text("address").strip()
    if file is None or not file.body:
        raise UsageError("Choose a file that you saved: HTML, MHTML, HAR or WARC.")
    if parse(address) is None:
        raise UsageError("Say where the page is from, such as https://example.org/about.")
    submission = Submission.understand(address)
    stream = cast("BufferedReader", BufferedReader(BytesIO(file.body)))
    return await import_pages(
        call.desk.database,
        call.desk.settings,
        [Source(stream, address, file.name or "upload")],
        actor=call.actor,
        only={submission.domain},
        approve=[submission],
    )


def _why(report: ImportReport) -> str:
    for result in report.results:
        if result.reason:
            return f"Nothing was imported: {result.reason}."
    said = report.warnings[0] if report.warnings else "no page was found in the file."
    return f"Nothing was imported: {said}"


SCREENS = (
    get("/orbit/{slug}/import/saved", Act.READ, show),
    upload("/orbit/{slug}/import/saved", Act.DOMAINS_IMPORT, take),
)
