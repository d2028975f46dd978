"""Jobs and dead letters: listing, cancelling, requeueing and purging."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import Limit, ListRequest, list_request
from messor.api.models.operations import (
    ChoiceIn,
    CountOut,
    JobErrorOut,
    JobOut,
    JobStats,
    Patterns,
)
from messor.errors import NotFoundError, UsageError
from messor.jobs import dead_letters, patterns, queries
from messor.jobs import jobs as queue
from messor.jobs.dead_letter_queries import DEAD_LETTERS, DeadLetter, DeadLetterFilter
from messor.jobs.queries import JOBS, JobFilter, JobRow
from messor.jobs.redaction import shown_job
from messor.ledger.errors import Category
from messor.ledger.events import Event, record
from messor.store.listing import ListPage

router = APIRouter(tags=["jobs"], route_class=GatedRoute)

_JOB_FIELDS = JobOut.model_fields.keys() - {"result", "errors"}


@router.get("/jobs")
@needs(Act.READ)
async def list_jobs(
    database: DatabaseDep, asked: Annotated[ListRequest[JobRow, JobFilter], list_request(JOBS)]
) -> ListPage[JobRow]:
    """List jobs, without those in the history; a page may be short although more follow."""
    return await asked.read(database)


@router.get("/jobs/stats")
@needs(Act.READ)
async def show_job_stats(context: ContextDep) -> JobStats:
    """Job counts by type; with very many jobs, cached for some seconds."""
    figures = await context.job_figures.get()
    return JobStats(items=list(figures))


@router.get("/jobs/{job_id}")
@needs(Act.READ)
async def show_job(job_id: UUID, database: DatabaseDep, principal: PrincipalDep) -> JobOut:
    """Get a job from the queue or the history, with its latest errors."""
    found = await queries.get(database, job_id)
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
    asked: Annotated[
        ListRequest[DeadLetter, DeadLetterFilter], list_request(DEAD_LETTERS, without=("job_ids",))
    ],
) -> ListPage[DeadLetter]:
    """List dead letters: jobs that are not retried automatically."""
    return await asked.read(database)


@router.get("/dead-letters/patterns")
@needs(Act.READ)
async def list_patterns(
    database: DatabaseDep,
    *,
    days: Annotated[int, Query(ge=1, le=400, description="Maximum age in days")] = 7,
    category: Category | None = None,
    limit: Limit = 50,
) -> Patterns:
    """List errors grouped by message pattern, most frequent first."""
    found = await patterns.patterns(
        database, within=timedelta(days=days), category=category, limit=limit
    )
    return Patterns(items=found)


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
