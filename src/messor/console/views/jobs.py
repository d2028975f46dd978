"""Jobs: background work by state and type, job details and dead letters."""

from __future__ import annotations

from uuid import UUID

from pydantic import ValidationError
from starlette.responses import Response

from messor.access.roles import Act
from messor.console.addresses import within
from messor.console.call import ConsoleRequest
from messor.console.listing import list_of
from messor.console.screens import get, post
from messor.console.views.tasks import as_uuid
from messor.errors import NotFoundError, UsageError
from messor.jobs import dead_letters, jobs, queries
from messor.jobs.dead_letter_queries import DEAD_LETTERS, DeadLetterFilter
from messor.jobs.queries import JOBS
from messor.jobs.redaction import shown_job
from messor.ledger.events import Event, record
from messor.store.listing import fault_of

MAX_AT_ONCE = 500


async def show_all(call: ConsoleRequest) -> Response:
    return await call.page(
        "jobs/list.html",
        listed=await list_of(call, JOBS, "/jobs"),
        figures=await call.context.board.jobs.get(),
    )


async def show(call: ConsoleRequest) -> Response:
    job_id = as_uuid(call.part("job_id"))
    if job_id is None:
        raise NotFoundError("No such job.")
    found = await queries.get(call.context.database, job_id)
    job = shown_job(found, in_full=call.may(Act.JOBS_CONTROL))
    return await call.page("jobs/job.html", job=job)


async def show_dead(call: ConsoleRequest) -> Response:
    """Dead letters, individually and grouped by reason."""
    return await call.page(
        "jobs/dead.html",
        listed=await list_of(call, DEAD_LETTERS, "/jobs/dead", job_ids=None),
        groups=await call.context.board.dead.get(),
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
        return _filter(
            job_type=form.words("type"),
            category=form.words("category"),
            pattern=form.words("pattern"),
        )
    ids = [_required_uuid(text) for text in form.every("id")[:MAX_AT_ONCE]]
    return DeadLetterFilter(job_ids=ids) if ids else None


def _filter(**given: str | None) -> DeadLetterFilter:
    try:
        return DeadLetterFilter.model_validate(given)
    except ValidationError as error:
        raise UsageError(fault_of(error)) from error


def _required_uuid(text: str) -> UUID:
    found = as_uuid(text)
    if found is None:
        raise UsageError("A dead letter is identified by its job ID.")
    return found


SCREENS = (
    get("/jobs", Act.READ, show_all),
    get("/jobs/dead", Act.READ, show_dead),
    post("/jobs/dead", Act.JOBS_CONTROL, resolve_dead),
    get("/jobs/{job_id}", Act.READ, show),
    post("/jobs/{job_id}/cancel", Act.JOBS_CONTROL, cancel),
)
