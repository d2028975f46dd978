"""Jobs: background work by state and type, job details and dead letters."""

from __future__ import annotations

from uuid import UUID

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.addresses import place_from, place_of, with_query, within
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.console.views.tasks import as_uuid
from messor.errors import NotFoundError, UsageError
from messor.jobs import dead_letters, jobs, lists, queries
from messor.jobs.dead_letters import DeadLetterFilter
from messor.jobs.lists import STATES
from messor.jobs.redaction import shown_job
from messor.ledger.errors import CATEGORIES
from messor.ledger.events import Event, record

PER_PAGE = 50
MAX_AT_ONCE = 500


async def show_all(call: ConsoleRequest) -> Response:
    state, job_type = call.query("state"), call.query("type")
    found = await queries.jobs(
        call.context.database,
        state=state if state in STATES else None,
        job_type=job_type or None,
        before=_job_before(call),
        limit=PER_PAGE,
    )
    more = with_query("/jobs", state=state, type=job_type, before=found.reached)
    return await call.page(
        "jobs/list.html",
        rows=found.jobs,
        more=more if found.reached else None,
        figures=await call.context.board.jobs.get(),
        states=STATES,
        state=state,
        job_type=job_type,
    )


async def show(call: ConsoleRequest) -> Response:
    job_id = as_uuid(call.part("job_id"))
    if job_id is None:
        raise NotFoundError("No such job.")
    found = await lists.get(call.context.database, job_id)
    job = shown_job(found, in_full=call.may(Act.JOBS_CONTROL))
    return await call.page("jobs/job.html", job=job)


async def show_dead(call: ConsoleRequest) -> Response:
    """Dead letters, individually and grouped by reason."""
    job_type, category = call.query("type"), call.query("category")
    rows = await queries.letters(
        call.context.database,
        job_type=job_type or None,
        category=category if category in CATEGORIES else None,
        before=place_from(call.query("before")),
        limit=PER_PAGE + 1,
    )
    more = None
    if len(rows) > PER_PAGE:
        last = rows[PER_PAGE - 1]
        place = place_of(last.died_at, last.id)
        more = with_query("/jobs/dead", type=job_type, category=category, before=place)
    return await call.page(
        "jobs/dead.html",
        rows=rows[:PER_PAGE],
        more=more,
        groups=await call.context.board.dead.get(),
        categories=CATEGORIES,
        job_type=job_type,
        category=category,
    )


async def resolve_dead(call: ConsoleRequest) -> Response:
    """Requeue or purge the selected dead letters, or a whole group."""
    act = call.form.text("act")
    if act not in ("requeue", "purge"):
        raise UsageError("The action must be requeue or purge.")
    back = within(call.form.text("back"), "/jobs/dead")
    selection = _selection(call)
    if selection is None:
        return call.go(back, "Select dead letters or choose a group.", "warning")
    if act == "requeue":
        count = await dead_letters.requeue(call.context.database, selection, actor=call.actor)
        return call.go(back, f"{count:,} jobs were requeued ({selection}).")
    count = await dead_letters.purge(call.context.database, selection, actor=call.actor)
    return call.go(back, f"{count:,} dead letters were purged ({selection}).")


async def cancel(call: ConsoleRequest) -> Response:
    job_id = as_uuid(call.part("job_id"))
    assert job_id is not None
    async with call.context.database.transaction() as connection:
        done = await jobs.cancel(connection, [job_id])
        if not done:
            raise NotFoundError("This job is no longer queued or running.")
        data = {"jobs": len(done), "ids": [str(job_id)]}
        await record(connection, [Event("jobs.cancelled", call.actor, data=data)])
    return call.go(f"/jobs/{job_id}", "The job was cancelled.")


def _selection(call: ConsoleRequest) -> DeadLetterFilter | None:
    """The dead letters selected by the form; None when there are none."""
    form = call.form
    if form.text("which") == "all":
        return DeadLetterFilter()
    if form.text("which") == "group":
        return DeadLetterFilter(
            job_type=form.words("type"),
            category=form.words("category"),
            pattern=form.words("pattern"),
        )
    ids = [_required_uuid(text) for text in form.every("id")[:MAX_AT_ONCE]]
    return DeadLetterFilter(job_ids=ids) if ids else None


def _required_uuid(text: str) -> UUID:
    found = as_uuid(text)
    if found is None:
        raise UsageError("A dead letter is identified by its job ID.")
    return found


def _job_before(call: ConsoleRequest) -> UUID | None:
    try:
        return UUID(call.query("before")) if call.query("before") else None
    except ValueError:
        return None


SCREENS = (
    get("/jobs", Act.READ, show_all),
    get("/jobs/dead", Act.READ, show_dead),
    post("/jobs/dead", Act.JOBS_CONTROL, resolve_dead),
    get("/jobs/{job_id}", Act.READ, show),
    post("/jobs/{job_id}/cancel", Act.JOBS_CONTROL, cancel),
)
