"""Website intelligence: a site read in one of three modes, live, with tiles and evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.addresses import with_query
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.errors import ConflictError, MessorError, NotFoundError, UsageError
from messor.ingest import IngestRequest, Mode, Progress, hindsight, ingest, orbits, queries
from messor.ingest.queries import KnownRun, Orbit
from messor.ingest.request import MODES, slug_of
from messor.registry.domains import Submission

MOST_RUNS = 10
LONGEST_SLUG = 100


async def show_orbits(call: ConsoleRequest) -> Response:
    """The orbits; an address leads to the one that it fills."""
    address = call.query("address").strip()
    wrong = None
    if address:
        try:
            slug = slug_of(Submission.understand(address).domain)
            return call.go(with_query(import_path(slug), address=address))
        except UsageError as error:
            wrong = str(error)
    rows = await orbits.listing(call.desk.database, containing=call.query("q").lower() or None)
    status = 422 if wrong else 200
    return await call.page(
        "import/orbits.html", status=status, rows=rows, wrong=wrong, address=address
    )


async def show(call: ConsoleRequest) -> Response:
    return await import_page(call, _slug(call))


async def import_page(
    call: ConsoleRequest, slug: str, *, wrong: str | None = None, status: int = 200
) -> Response:
    """The page of one orbit, with the run that is asked for, or the newest."""
    database = call.desk.database
    orbit = await _orbit(call, slug)
    runs = await queries.runs(database, orbit=slug, limit=MOST_RUNS)
    run = await _run(call, slug, runs)
    values: dict[str, Any] = {"names": await call.names({one.requested_by for one in runs})}
    if run is not None:
        values |= await _told(call, run)
    return await call.page(
        "import/page.html",
        status=status,
        slug=slug,
        orbit=orbit,
        runs=runs,
        run=run,
        wrong=wrong,
        asked=_asked(call, orbit, run),
        **mode_values(),
        **values,
    )


async def show_progress(call: ConsoleRequest) -> Response:
    """How far a run is, for a page that asks again and again."""
    slug, trace_id = _slug(call), call.part("trace_id")
    run = await queries.run(call.desk.database, trace_id)
    if run.orbit_slug != slug:
        raise NotFoundError("This orbit has no such run.")
    if not call.is_partial:
        return call.go(with_query(import_path(slug), run=trace_id))
    response = call.bare("import/progress.html", slug=slug, run=run)
    if run.completed_at is not None or run.lost:
        response.headers["HX-Refresh"] = "true"
    return response


async def find_run(call: ConsoleRequest) -> Response:
    """A run by its trace alone, as evidence names it."""
    run = await queries.run(call.desk.database, call.part("trace_id"))
    return call.go(with_query(import_path(run.orbit_slug), run=run.trace_id))


async def begin(call: ConsoleRequest) -> Response:
    """Start a run; the page that follows shows how far it is."""
    slug, form = _slug(call), call.form
    mode = form.text("mode", Mode.STANDARD)
    pages = tuple(form.text("pages").split()) if mode == Mode.USER_ASSISTED else ()
    request = IngestRequest(
        form.text("address").strip(),
        call.actor,
        mode,
        pages,
        slug,
        may_approve=call.may(Act.DOMAINS_REVIEW),
    )
    try:
        trace_id = await _start(call, request)
    except (UsageError, ConflictError) as error:
        return await import_page(
            call, slug, wrong=str(error), status=409 if isinstance(error, ConflictError) else 422
        )
    return call.go(with_query(import_path(slug), run=trace_id))


async def _start(call: ConsoleRequest, request: IngestRequest) -> str:
    """The trace of a run that has begun; what forbids it is raised before that."""
    desk = call.desk
    desk.errands.require_room()
    begun: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def watch(progress: Progress) -> None:
        if not begun.done():
            begun.set_result(progress.trace_id)

    errand = desk.errands.begin(ingest(desk.database, desk.settings, request, watch=watch))
    await asyncio.wait({errand, begun}, return_when=asyncio.FIRST_COMPLETED)
    if not begun.done():
        errand.result()  # raises what stood in the way
        raise MessorError("The ingestion ended before it began.")
    return begun.result()


def mode_values() -> dict[str, Any]:
    """What the mode selector is drawn with."""
    return {"modes": [(mode.value, MODES[mode]) for mode in Mode]}


def import_path(slug: str) -> str:
    return f"/orbit/{slug}/import"


def _slug(call: ConsoleRequest) -> str:
    """An orbit's name as it may stand in an address; others are nobody's."""
    slug = call.part("slug")
    if len(slug) > LONGEST_SLUG or slug != slug_of(slug) or not slug:
        raise NotFoundError("No orbit has such a name.")
    return slug


async def orbit_of(call: ConsoleRequest) -> tuple[str, Orbit | None]:
    """The orbit that an address names, and what is known of it."""
    slug = _slug(call)
    return slug, await _orbit(call, slug)


async def _orbit(call: ConsoleRequest, slug: str) -> Orbit | None:
    try:
        return await queries.orbit(call.desk.database, slug)
    except NotFoundError:
        return None


async def _run(call: ConsoleRequest, slug: str, runs: Sequence[KnownRun]) -> KnownRun | None:
    trace_id = call.query("run")
    if not trace_id:
        return runs[0] if runs else None
    for run in runs:
        if run.trace_id == trace_id:
            return run
    run = await queries.run(call.desk.database, trace_id)
    if run.orbit_slug != slug:
        raise NotFoundError("This orbit has no such run.")
    return run


async def _told(call: ConsoleRequest, run: KnownRun) -> dict[str, Any]:
    pages = await hindsight.plan(call.desk.database, run)
    told = await hindsight.guidance(call.desk.database, run, pages)
    marks = (run.evidence or {}).get("nm_ingest")
    return {"pages": pages, "guidance": told, "marks": marks}


def _asked(call: ConsoleRequest, orbit: Orbit | None, run: KnownRun | None) -> dict[str, str]:
    """What the form is filled with: what was sent, else what is known."""
    known = run.url if run else f"https://{orbit.domain}/" if orbit and orbit.domain else ""
    return {
        "address": call.form.text("address") or call.query("address") or known,
        "mode": call.form.text("mode") or call.query("mode") or Mode.STANDARD.value,
        "pages": call.form.text("pages"),
    }


SCREENS = (
    get("/orbit", Act.READ, show_orbits),
    get("/orbit/{slug}/import", Act.READ, show),
    get("/orbit/{slug}/import/progress/{trace_id}", Act.READ, show_progress),
    get("/orbit/runs/{trace_id}", Act.READ, find_run),
    post("/orbit/{slug}/import", Act.INGEST_RUN, begin),
)
