"""Manual import: pages that a person saved in their browser, taken in without asking the site."""

from __future__ import annotations

from io import BufferedReader, BytesIO
from typing import cast

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.addresses import with_query
from messor.console.call import Call
from messor.console.screens import post
from messor.console.views.ingesting import import_page, import_path
from messor.engine.imports.importing import ImportReport, import_pages
from messor.engine.imports.sources import Source
from messor.errors import UsageError
from messor.registry.domains import Submission
from messor.web.urls import parse


async def take(call: Call) -> Response:
    """Import one file; its domain is approved for its imported pages by that."""
    slug = call.part("slug")
    try:
        report = await _import(call)
    except UsageError as error:
        return await import_page(call, slug, wrong=str(error), status=422)
    if not report.has_pages:
        return await import_page(call, slug, wrong=_why(report), status=422)
    counted = ", ".join(f"{count} {outcome}" for outcome, count in sorted(report.counts.items()))
    said = f"Imported without a request: {counted}. Name the page below to make tiles of it."
    address = call.form.text("address").strip()
    return call.go(with_query(import_path(slug), mode="user_assisted", address=address), said)


async def _import(call: Call) -> ImportReport:
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


SCREENS = (post("/orbit/{slug}/import/saved", Act.DOMAINS_IMPORT, take),)
