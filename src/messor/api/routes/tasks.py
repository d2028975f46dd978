"""URLs, crawl tasks and batches: what is to be crawled, in people's hands."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from fastapi import APIRouter, Query, Request, Response

from messor.access.roles import Act
from messor.api.cursors import CursorParam, Listing, Pager, PageSize, PositiveInt
from messor.api.gate import GatedRoute, needs
from messor.api.house import Source, Unit, Who
from messor.api.models.base import NO_NUL, BigId
from messor.api.models.crawl import (
    ActIn,
    BadLineOut,
    BatchIn,
    BatchOut,
    BatchTakenOut,
    DoneOut,
    ScopedActIn,
    TaskOut,
    TaskStatus,
    WishIn,
)
from messor.api.models.domains import SubmittedUrlOut, UrlIn
from messor.api.routes.domains import name_of
from messor.errors import ConflictError, UsageError
from messor.frontier import batches, control, queries, task_stretches
from messor.frontier.batch_lines import Line, LineReader
from messor.frontier.batches import BatchSubmitter
from messor.frontier.cadence import parse_interval
from messor.frontier.control import Scope
from messor.governance import intake
from messor.registry.submissions import Submitter
from messor.store.database import Database

router = APIRouter(tags=["tasks"], route_class=GatedRoute)

UPLOAD = "/batches/upload"
SHOWN_ERRORS = 100

DomainFilter = Annotated[str | None, Query(min_length=1, max_length=253, pattern=NO_NUL)]


@router.post("/urls")
@needs(Act.DOMAINS_SUBMIT)
async def submit_url(given: UrlIn, unit: Unit, who: Who) -> SubmittedUrlOut:
    """Submit a URL: crawled now if its domain is approved, else remembered until it is."""
    answer = await intake.submit_url(
        unit, given.url, Submitter(who.actor), context=given.context, submit=given.submit
    )
    return SubmittedUrlOut.model_validate(answer)


@router.get("/tasks")
@needs(Act.READ)
async def list_tasks(
    source: Source,
    *,
    domain: DomainFilter = None,
    status: TaskStatus | None = None,
    batch: UUID | None = None,
    cursor: CursorParam = None,
    limit: PageSize = 50,
) -> Listing[TaskOut]:
    """Crawl tasks in the order their pages were found.

    An answer looks at a stretch of the frontier: it may hold few items, or none, and go on.
    """
    name = name_of(domain) if domain else None
    pager = Pager("tasks", name, status, batch)
    found = await task_stretches.read(
        source,
        status,
        after=pager.read(cursor, PositiveInt) or 0,
        domain=name,
        batch_id=batch,
        limit=limit,
    )
    return Listing(
        items=[TaskOut.model_validate(row) for row in found.tasks],
        next=pager.write(found.reached) if found.reached else None,
    )


@router.post("/tasks/acts")
@needs(Act.CRAWL_CONTROL, own_transactions=True)
async def act_on_tasks(given: ScopedActIn, source: Source, who: Who) -> DoneOut:
    """Pause, resume, stop, retry or recrawl: one page, a batch, a domain or everything."""
    scope = await _scope(source, given)
    return DoneOut.model_validate(await control.act(source, given.act, scope, actor=who.actor))


async def _scope(source: Database, given: ScopedActIn) -> Scope:
    named = (given.url, given.batch, given.domain)
    if sum(one is not None for one in named) + given.everything != 1:
        raise UsageError("Say which: exactly one of url, batch, domain and everything.")
    if given.url is not None:
        return await Scope.url(source, given.url)
    if given.batch is not None:
        return await Scope.batch(source, str(given.batch))
    if given.domain is not None:
        return await Scope.domain(source, given.domain)
    return Scope.everything()


@router.get("/tasks/{page_id}")
@needs(Act.READ)
async def show_task(page_id: BigId, source: Source) -> TaskOut:
    """The crawl task of one page."""
    return TaskOut.model_validate(await queries.task(source, page_id))


@router.post("/tasks/{page_id}/acts")
@needs(Act.CRAWL_CONTROL, own_transactions=True)
async def act_on_task(page_id: BigId, given: ActIn, source: Source, who: Who) -> DoneOut:
    """Pause, resume, stop, retry or recrawl one page."""
    found = await queries.task(source, page_id)
    scope = await Scope.url(source, found.url)
    if scope.key != page_id:
        raise ConflictError("This task is a first look at a domain; decide on the domain instead.")
    return DoneOut.model_validate(await control.act(source, given.act, scope, actor=who.actor))


@router.get("/batches")
@needs(Act.READ)
async def list_batches(
    source: Source, *, cursor: CursorParam = None, limit: PageSize = 50
) -> Listing[BatchOut]:
    """Batches, the newest first."""
    pager = Pager("batches")
    rows = await queries.batches(source, before=pager.read(cursor, UUID), limit=limit + 1)
    return Listing(
        items=[BatchOut.model_validate(row) for row in rows[:limit]],
        next=pager.next(rows, limit, lambda row: row.id),
    )


@router.post("/batches", status_code=201)
@needs(Act.CRAWL_CONTROL, own_transactions=True)
async def submit_batch(
    given: BatchIn, source: Source, who: Who, response: Response
) -> BatchTakenOut:
    """Submit pages together; each is checked, the good ones are due at once."""
    submitter = BatchSubmitter(
        source, actor=who.actor, priority=given.priority, frequency=_every(given.every)
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
    source: Source,
    who: Who,
    response: Response,
    *,
    form: Annotated[Literal["csv", "jsonl", "sitemap", "lines"], Query(alias="format")],
    name: Annotated[str, Query(min_length=1, max_length=200, pattern=NO_NUL)],
    priority: Annotated[int, Query(ge=1, le=10)] = 5,
    every: Annotated[str | None, Query(max_length=30, pattern=NO_NUL)] = None,
) -> BatchTakenOut:
    """Submit a file: CSV with a header, JSON lines, a sitemap, or one address per line."""
    submitter = BatchSubmitter(source, actor=who.actor, priority=priority, frequency=_every(every))
    lines = batches.lines_of(io.BytesIO(await request.body()), form)
    return await _take(submitter, lines, response, name, form)


def _every(text: str | None) -> timedelta | None:
    return parse_interval(text) if text else None


async def _lines_of(urls: Sequence[str | WishIn]) -> AsyncIterator[Line]:
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
async def show_batch(batch_id: UUID, source: Source) -> BatchOut:
    """One batch and what came of its lines."""
    return BatchOut.model_validate(await queries.batch(source, batch_id))


@router.get("/batches/{batch_id}/errors")
@needs(Act.READ)
async def list_batch_errors(
    batch_id: UUID, source: Source, *, cursor: CursorParam = None, limit: PageSize = 50
) -> Listing[BadLineOut]:
    """The lines of a batch that were not taken, each with its reason."""
    pager = Pager("batch-errors", batch_id)
    after = pager.read(cursor, PositiveInt) or 0
    rows = await queries.batch_errors(source, batch_id, after=after, limit=limit + 1)
    return Listing(
        items=[BadLineOut(**row) for row in rows[:limit]],
        next=pager.next(rows, limit, lambda row: row["line"]),
    )


@router.post("/batches/{batch_id}/acts")
@needs(Act.CRAWL_CONTROL, own_transactions=True)
async def act_on_batch(batch_id: UUID, given: ActIn, source: Source, who: Who) -> DoneOut:
    """Pause, resume, stop, retry or recrawl the pages of a batch."""
    scope = await Scope.batch(source, str(batch_id))
    return DoneOut.model_validate(await control.act(source, given.act, scope, actor=who.actor))
