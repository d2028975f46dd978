"""Website intelligence: ingest a site in one of three modes, with live progress, tiles and evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.addresses import with_query
from messor.console.call import ConsoleRequest
from messor.console.listing import list_of
from messor.console.screens import get, post
from messor.errors import ConflictError, MessorError, NotFoundError, UsageError
from messor.ingest import IngestRequest, Mode, Progress, hindsight, ingest, queries
from messor.ingest.queries import INGESTIONS, ORBITS, IngestionFilter, IngestionRun, Orbit
from messor.ingest.request import MODES, slug_of
from messor.registry.domains import Submission
from messor.registry.submissions import Submitter

MAX_RUNS = 10
MAX_SLUG_LENGTH = 100


async def show_orbits(call: ConsoleRequest) -> Response:
    """The list of orbits; a URL redirects to its orbit."""
    address = call.query("address").strip()
    wrong = None
    if address:
        try:
            slug = slug_of(Submission.understand(address).domain)
            return call.go(with_query(import_path(slug), address=address))
        except UsageError as error:
            wrong = str(error)
    listed = await list_of(call, ORBITS, "/orbit")
    status = 422 if wrong else 200
    return await call.page(
        "import/orbits.html", status=status, listed=listed, wrong=wrong, address=address
    )


async def show(call: ConsoleRequest) -> Response:
    return await import_page(call, _slug(call))


async def import_page(
    call: ConsoleRequest, slug: str, *, wrong: str | None = None, status: int = 200
) -> Response:
    """The page of one orbit with the requested run, or the newest."""
    database = call.context.database
    orbit = await _orbit(call, slug)
    recent = await INGESTIONS.read(database, IngestionFilter(orbit=slug), limit=MAX_RUNS)
    runs = recent.items
    run = await _run(call, slug, runs)
    values: dict[str, Any] = {"names": await call.names({one.requested_by for one in runs})}
    if run is not None:
        values |= await _run_values(call, run)
    return await call.page(
        "import/page.html",
        status=status,
        slug=slug,
        orbit=orbit,
        runs=runs,
        run=run,
        wrong=wrong,
        form_values=_form_values(call, orbit, run),
        **mode_values(),
        **values,
    )


async def show_progress(call: ConsoleRequest) -> Response:
    """Progress of a run, for polling."""
    slug, trace_id = _slug(call), call.part("trace_id")
    run = await queries.run(call.context.database, trace_id)
    if run.orbit_slug != slug:
        raise NotFoundError("No such run in this orbit.")
    if not call.is_partial:
        return call.go(with_query(import_path(slug), run=trace_id))
    response = call.bare("import/progress.html", slug=slug, run=run)
    if run.completed_at is not None or run.lost:
        response.headers["HX-Refresh"] = "true"
    return response


async def show_runs(call: ConsoleRequest) -> Response:
    """The ingestions of all orbits."""
    listed = await list_of(call, INGESTIONS, "/orbit/runs")
    names = await call.names({one.requested_by for one in listed.items})
    return await call.page("import/runs.html", listed=listed, names=names)


async def find_run(call: ConsoleRequest) -> Response:
    """Find a run by its trace ID alone."""
    run = await queries.run(call.context.database, call.part("trace_id"))
    return call.go(with_query(import_path(run.orbit_slug), run=run.trace_id))


async def begin(call: ConsoleRequest) -> Response:
    """Start a run, then show its progress."""
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
        submitter_type=Submitter.of(call.member).submitter_type,
        member_id=call.member.member_id,
    )
    try:
        trace_id = await _start(call, request)
    except (UsageError, ConflictError) as error:
        return await import_page(
            call, slug, wrong=str(error), status=409 if isinstance(error, ConflictError) else 422
        )
    return call.go(with_query(import_path(slug), run=trace_id))


async def _start(call: ConsoleRequest, request: IngestRequest) -> str:
    """Start a run and return its trace ID; refusals are raised before it starts."""
    context = call.context
    context.background.require_room()
    started: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def watch(progress: Progress) -> None:
        if not started.done():
            started.set_result(progress.trace_id)

    task = context.background.begin(
        ingest(context.database, context.settings, request, watch=watch)
    )
    await asyncio.wait({task, started}, return_when=asyncio.FIRST_COMPLETED)
    if not started.done():
        task.result()  # raises the error that prevented the run
        raise MessorError("The ingestion ended before it started.")
    return started.result()


def mode_values() -> dict[str, Any]:
    """Template values of the mode selector."""
    return {"modes": [(mode.value, MODES[mode]) for mode in Mode]}


def import_path(slug: str) -> str:
    return f"/orbit/{slug}/import"


def _slug(call: ConsoleRequest) -> str:
    """The orbit slug of the URL; raises NotFoundError when malformed."""
    slug = call.part("slug")
    if len(slug) > MAX_SLUG_LENGTH or slug != slug_of(slug) or not slug:
        raise NotFoundError("No such orbit.")
    return slug


async def orbit_of(call: ConsoleRequest) -> tuple[str, Orbit | None]:
    """The orbit slug of the URL, and the orbit if it exists."""
    slug = _slug(call)
    return slug, await _orbit(call, slug)


async def _orbit(call: ConsoleRequest, slug: str) -> Orbit | None:
    try:
        return await queries.orbit(call.context.database, slug)
    except NotFoundError:
        return None


async def _run(
    call: ConsoleRequest, slug: str, runs: Sequence[IngestionRun]
) -> IngestionRun | None:
    trace_id = call.query("run")
    if not trace_id:
        return runs[0] if runs else None
    for run in runs:
        if run.trace_id == trace_id:
            return run
    run = await queries.run(call.context.database, trace_id)
    if run.orbit_slug != slug:
        raise NotFoundError("No such run in this orbit.")
    return run


async def _run_values(call: ConsoleRequest, run: IngestionRun) -> dict[str, Any]:
    pages = await hindsight.plan(call.context.database, run)
    guidance = await hindsight.guidance(call.context.database, run, pages)
    marks = (run.evidence or {}).get("nm_ingest")
    return {"pages": pages, "guidance": guidance, "marks": marks}


def _form_values(
    call: ConsoleRequest, orbit: Orbit | None, run: IngestionRun | None
) -> dict[str, str]:
    """Form values: as submitted, or else from the newest run or orbit."""
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
    get("/orbit/runs", Act.READ, show_runs),
    get("/orbit/runs/{trace_id}", Act.READ, find_run),
    post("/orbit/{slug}/import", Act.INGEST_RUN, begin),
)
