"""Jobs and dead letters: listing, cancelling, requeueing and purging."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query

from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep, PrincipalDep, TransactionDep
from messor.api.cursors import CursorParam, Listing, Pager, PageSize
from messor.api.gate import GatedRoute, needs
from messor.api.models.base import NO_NUL
from messor.api.models.operations import (
    Category,
    ChoiceIn,
    CountOut,
    JobErrorOut,
    JobFiguresOut,
    JobLineOut,
    JobOut,
    JobStatsOut,
    LetterOut,
    PatternOut,
    PatternsOut,
)
from messor.errors import NotFoundError, UsageError
from messor.jobs import dead_letters, lists, patterns, queries
from messor.jobs import jobs as queue
from messor.jobs.dead_letters import DeadLetterFilter
from messor.jobs.redaction import shown_job
from messor.ledger.events import Event, record

router = APIRouter(tags=["jobs"], route_class=GatedRoute)

State = Literal["queued", "running", "done", "dead", "cancelled"]
JobType = Annotated[str | None, Query(min_length=1, max_length=100, pattern=NO_NUL)]
_JOB_FIELDS = JobOut.model_fields.keys() - {"result", "errors"}


@router.get("/jobs")
@needs(Act.READ)
async def list_jobs(
    database: DatabaseDep,
    *,
    state: State | None = None,
    job_type: JobType = None,
    cursor: CursorParam = None,
    limit: PageSize = 50,
) -> Listing[JobLineOut]:
    """List jobs, newest first, without those in the history."""
    pager = Pager("jobs", state, job_type)
    before = pager.read(cursor, UUID)
    found = await queries.jobs(database, state=state, job_type=job_type, before=before, limit=limit)
    return Listing(
        items=[JobLineOut.model_validate(row) for row in found.jobs],
        next=pager.write(found.reached) if found.reached else None,
    )


@router.get("/jobs/stats")
@needs(Act.READ)
async def show_job_stats(context: ContextDep) -> JobStatsOut:
    """Job counts by type; with very many jobs, cached for some seconds."""
    figures = await context.job_figures.get()
    return JobStatsOut(items=[JobFiguresOut.model_validate(one) for one in figures])


@router.get("/jobs/{job_id}")
@needs(Act.READ)
async def show_job(job_id: UUID, database: DatabaseDep, principal: PrincipalDep) -> JobOut:
    """Get a job from the queue or the history, with its latest errors."""
    found = await lists.get(database, job_id)
    job = shown_job(found, in_full=principal.may(Act.JOBS_CONTROL))
    names = JobErrorOut.model_fields
    errors = [JobErrorOut(**{name: one[name] for name in names}) for one in job["errors"]]
    shown = {name: job[name] for name in _JOB_FIELDS}
    return JobOut(**shown, result=job["result_json"], errors=errors)


@router.post("/jobs/{job_id}/cancel")
@needs(Act.JOBS_CONTROL)
async def cancel_job(job_id: UUID, connection: TransactionDep, principal: PrincipalDep) -> CountOut:
    """Cancel a queued or running job; a worker stops it at its next heartbeat."""
    if not await queue.cancel(connection, [job_id]):
        raise NotFoundError(f"Job {job_id} is not queued or running.")
    await record(
        connection, [Event("jobs.cancelled", principal.actor, data={"job": str(job_id), "jobs": 1})]
    )
    return CountOut(jobs=1)


@router.get("/dead-letters")
@needs(Act.READ)
async def list_letters(
    database: DatabaseDep,
    *,
    job_type: JobType = None,
    category: Category | None = None,
    cursor: CursorParam = None,
    limit: PageSize = 50,
) -> Listing[LetterOut]:
    """List dead letters, newest first: jobs that are not retried automatically."""
    pager = Pager("letters", job_type, category)
    before = pager.read(cursor, tuple[datetime, UUID])
    rows = await queries.letters(
        database, job_type=job_type, category=category, before=before, limit=limit + 1
    )
    return Listing(
        items=[LetterOut.model_validate(row) for row in rows[:limit]],
        next=pager.next(rows, limit, lambda row: (row.died_at, row.id)),
    )


@router.get("/dead-letters/patterns")
@needs(Act.READ)
async def list_patterns(
    database: DatabaseDep,
    *,
    days: Annotated[int, Query(ge=1, le=400, description="Maximum age in days")] = 7,
    category: Category | None = None,
    limit: PageSize = 50,
) -> PatternsOut:
    """List errors grouped by message pattern, most frequent first."""
    found = await patterns.patterns(
        database, within=timedelta(days=days), category=category, limit=limit
    )
    return PatternsOut(items=[PatternOut.model_validate(one) for one in found])


@router.post("/dead-letters/requeue")
@needs(Act.JOBS_CONTROL, own_transactions=True)
async def requeue(given: ChoiceIn, database: DatabaseDep, principal: PrincipalDep) -> CountOut:
    """Requeue dead letters with all their attempts."""
    return CountOut(
        jobs=await dead_letters.requeue(database, _choice(given), actor=principal.actor)
    )


@router.post("/dead-letters/purge")
@needs(Act.JOBS_CONTROL, own_transactions=True)
async def purge(given: ChoiceIn, database: DatabaseDep, principal: PrincipalDep) -> CountOut:
    """Move dead letters to the history, which frees their keys."""
    return CountOut(jobs=await dead_letters.purge(database, _choice(given), actor=principal.actor))


def _choice(given: ChoiceIn) -> DeadLetterFilter:
    chosen = given.model_dump(exclude={"everything"})
    is_named = any(value is not None for value in chosen.values())
    if is_named == given.everything:
        raise UsageError(
            "Select dead letters by ids, type, category or pattern, or set everything."
        )
    return DeadLetterFilter(**chosen)
