"""URLs, crawl tasks and batches: submission and control."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from fastapi import APIRouter, Query, Request, Response

from messor.access.roles import Act
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.base import NO_NUL, BigId
from messor.api.models.crawl import (
    ActIn,
    BatchIn,
    BatchTakenOut,
    BatchUrlIn,
    DoneOut,
    ScopedActIn,
)
from messor.api.models.domains import UrlIn
from messor.errors import ConflictError, UsageError
from messor.frontier import batch_queries, batches, control, task_queries
from messor.frontier.batch_lines import BadLine, Line, LineReader
from messor.frontier.batch_queries import (
    BATCH_ERRORS,
    BATCHES,
    BatchErrorFilter,
    BatchFilter,
    TaskBatch,
)
from messor.frontier.batches import BatchSubmitter
from messor.frontier.cadence import parse_interval
from messor.frontier.control import Scope
from messor.frontier.failed_task_queries import FAILED_TASKS, FailedTask, FailedTaskFilter
from messor.frontier.task_queries import TASKS, KnownTask, TaskFilter
from messor.governance import intake
from messor.governance.intake import SubmittedUrl
from messor.registry.submissions import Submitter
from messor.store.database import Database
from messor.store.listing import ListPage

router = APIRouter(tags=["tasks"], route_class=GatedRoute)

UPLOAD = "/batches/upload"
SHOWN_ERRORS = 100

DomainFilter = Annotated[str | None, Query(min_length=1, max_length=253, pattern=NO_NUL)]


@router.post("/urls")
@needs(Act.DOMAINS_SUBMIT)
async def submit_url(
    given: UrlIn, connection: TransactionDep, principal: PrincipalDep
) -> SubmittedUrl:
    """Submit a URL: crawled now if its domain is approved, otherwise once it is."""
    return await intake.submit_url(
        connection,
        given.url,
        Submitter.of(principal),
        context=given.context,
        vertical=given.vertical,
        submit=given.submit,
    )


@router.get("/tasks")
@needs(Act.READ)
async def list_tasks(
    database: DatabaseDep,
    asked: Annotated[ListRequest[KnownTask, TaskFilter], list_request(TASKS)],
) -> ListPage[KnownTask]:
    """List crawl tasks in discovery order.

    A response scans a bounded part of the frontier, so it may contain few or no items although more follow.
    """
    return await asked.read(database)


@router.get("/tasks/dead")
@needs(Act.READ)
async def list_failed_tasks(
    database: DatabaseDep,
    asked: Annotated[ListRequest[FailedTask, FailedTaskFilter], list_request(FAILED_TASKS)],
) -> ListPage[FailedTask]:
    """List tasks that failed for good, with the reason; retry them with an act."""
    return await asked.read(database)


@router.post("/tasks/acts")
@needs(Act.CRAWL_CONTROL, own_transactions=True)
async def act_on_tasks(
    given: ScopedActIn, database: DatabaseDep, principal: PrincipalDep
) -> DoneOut:
    """Pause, resume, stop, retry or recrawl a page, a batch, a domain or everything."""
    scope = await _scope(database, given)
    return DoneOut.model_validate(
        await control.act(database, given.act, scope, actor=principal.actor)
    )


async def _scope(database: Database, given: ScopedActIn) -> Scope:
    named = (given.url, given.batch, given.domain)
    if sum(one is not None for one in named) + given.everything != 1:
        raise UsageError("Specify exactly one of url, batch, domain and everything.")
    if given.url is not None:
        return await Scope.url(database, given.url)
    if given.batch is not None:
        return await Scope.batch(database, str(given.batch))
    if given.domain is not None:
        return await Scope.domain(database, given.domain)
    return Scope.everything()


@router.get("/tasks/{page_id}")
@needs(Act.READ)
async def show_task(page_id: BigId, database: DatabaseDep) -> KnownTask:
    """Get the crawl task of a page."""
    return await task_queries.task(database, page_id)


@router.post("/tasks/{page_id}/acts")
@needs(Act.CRAWL_CONTROL, own_transactions=True)
async def act_on_task(
    page_id: BigId, given: ActIn, database: DatabaseDep, principal: PrincipalDep
) -> DoneOut:
    """Pause, resume, stop, retry or recrawl one page."""
    found = await task_queries.task(database, page_id)
    scope = await Scope.url(database, found.url)
    if scope.key != page_id:
        raise ConflictError("This task is a preflight check; decide on the domain instead.")
    return DoneOut.model_validate(
        await control.act(database, given.act, scope, actor=principal.actor)
    )


@router.get("/batches")
@needs(Act.READ)
async def list_batches(
    database: DatabaseDep,
    asked: Annotated[ListRequest[TaskBatch, BatchFilter], list_request(BATCHES)],
) -> ListPage[TaskBatch]:
    """List batches, newest first."""
    return await asked.read(database)


@router.post("/batches", status_code=201)
@needs(Act.CRAWL_CONTROL, own_transactions=True)
async def submit_batch(
    given: BatchIn, database: DatabaseDep, principal: PrincipalDep, response: Response
) -> BatchTakenOut:
    """Submit a batch of URLs; valid ones are due immediately."""
    submitter = BatchSubmitter(
        database, actor=principal.actor, priority=given.priority, frequency=_every(given.every)
    )
    return await _take(submitter, _lines_of(given.urls), response, given.name, "jsonl")


@router.post(
    UPLOAD,
    status_code=201,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string"}}},
        }
    },
)
@needs(Act.CRAWL_CONTROL, own_transactions=True)
async def upload_batch(
    request: Request,
    database: DatabaseDep,
    principal: PrincipalDep,
    response: Response,
    *,
    form: Annotated[Literal["csv", "jsonl", "sitemap", "lines"], Query(alias="format")],
    name: Annotated[str, Query(min_length=1, max_length=200, pattern=NO_NUL)],
    priority: Annotated[int, Query(ge=1, le=10)] = 5,
    every: Annotated[str | None, Query(max_length=30, pattern=NO_NUL)] = None,
) -> BatchTakenOut:
    """Submit a file: CSV with a header, JSON Lines, a sitemap, or one URL per line."""
    submitter = BatchSubmitter(
        database, actor=principal.actor, priority=priority, frequency=_every(every)
    )
    lines = batches.lines_of(io.BytesIO(await request.body()), form)
    return await _take(submitter, lines, response, name, form)


def _every(text: str | None) -> timedelta | None:
    return parse_interval(text) if text else None


async def _lines_of(urls: Sequence[str | BatchUrlIn]) -> AsyncIterator[Line]:
    reader = LineReader("jsonl")
    for one in urls:
        fields = {"url": one} if isinstance(one, str) else one.model_dump(exclude_none=True)
        if "every" in fields:
            fields["frequency"] = fields.pop("every")
        line = reader.read(msgspec.json.encode(fields))
        if line is not None:
            yield line


async def _take(
    submitter: BatchSubmitter, lines: AsyncIterator[Line], response: Response, name: str, form: str
) -> BatchTakenOut:
    report = await submitter.submit(lines, name=name, source="api", form=form)
    response.headers["Location"] = f"/api/v1/batches/{report.id}"
    report.errors = report.errors[:SHOWN_ERRORS]
    return BatchTakenOut.model_validate(report)


@router.get("/batches/{batch_id}")
@needs(Act.READ)
async def show_batch(batch_id: UUID, database: DatabaseDep) -> TaskBatch:
    """Get a batch with its results."""
    return await batch_queries.batch(database, batch_id)


@router.get("/batches/{batch_id}/errors")
@needs(Act.READ)
async def list_batch_errors(
    batch_id: UUID,
    database: DatabaseDep,
    asked: Annotated[
        ListRequest[BadLine, BatchErrorFilter], list_request(BATCH_ERRORS, without=("batch_id",))
    ],
) -> ListPage[BadLine]:
    """List the rejected lines of a batch with their reasons."""
    await batch_queries.batch(database, batch_id)
    return await asked.read(database, batch_id=batch_id)


@router.post("/batches/{batch_id}/acts")
@needs(Act.CRAWL_CONTROL, own_transactions=True)
async def act_on_batch(
    batch_id: UUID, given: ActIn, database: DatabaseDep, principal: PrincipalDep
) -> DoneOut:
    """Pause, resume, stop, retry or recrawl the pages of a batch."""
    scope = await Scope.batch(database, str(batch_id))
    return DoneOut.model_validate(
        await control.act(database, given.act, scope, actor=principal.actor)
    )
