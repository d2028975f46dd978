"""The change feed: batches in commit order with long poll, and a resumable stream."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated

import msgspec
from fastapi import APIRouter, Header, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response, StreamingResponse

from messor.access.roles import Act
from messor.api.context import ApiContext, ContextDep, DatabaseDep, PrincipalDep
from messor.api.declared_uses import DeclaredUses
from messor.api.gate import GatedRoute, needs
from messor.api.listing import Cursor, ListRequest, list_request
from messor.api.streams import (
    ID_PATTERN,
    POLL_SECONDS,
    Batch,
    EventStream,
    caller_of,
    position_in,
    stream,
)
from messor.core import clock
from messor.errors import UsageError
from messor.feed.chunk_feed import MAX_PAGES, ChunkPage, PageChunks, read_chunks
from messor.feed.queries import (
    CHANGES,
    COMMITTED,
    MAX_BATCH,
    Change,
    ChangeFilter,
    FeedPage,
    newest,
    read_after,
    read_feed,
)
from messor.rights.release import Purpose, release
from messor.rights.uses import ApprovedUse
from messor.store.database import Database
from messor.store.listing import DomainText, Position

router = APIRouter(prefix="/changes", tags=["changes"], route_class=GatedRoute)

MAX_WAIT = 60
STREAMED = 200  # entries per turn of a stream

Asked = ListRequest[Change, ChangeFilter]
Wait = Annotated[
    int, Query(ge=0, le=MAX_WAIT, description="Seconds to wait for an entry if there is none")
]
Whole = Annotated[
    bool, Query(description="Give all values of changed records in `after`, to replace them by key")
]


class FeedOut(BaseModel):
    """A batch of the change feed."""

    items: list[Change]
    next: str | None = Field(description="Cursor if more follow already; else null")
    cursor: str | None = Field(
        description="Where to continue, now or later; null in descending order"
    )


@router.get("", response_model=FeedOut)
@needs(Act.READ)
async def list_changes(
    context: ContextDep,
    principal: PrincipalDep,
    asked: Annotated[Asked, list_request(CHANGES, most=MAX_BATCH)],
    uses: DeclaredUses,
    *,
    wait: Wait = 0,
    whole: Whole = False,
) -> Response:
    """List what changed in commit order: each entry has a stable id, before, after and evidence.

    State `erased` is a tombstone: delete what you keep of its subject. Store `cursor` together with
    what you made of the entries, and continue from it: nothing is missed or repeated. With `wait`
    the response comes as soon as there is an entry. A response scans a bounded part of the feed, so
    it may be short although `next` is given.
    """
    database = context.database
    if asked.order != COMMITTED:
        if whole:
            raise UsageError("whole goes with the order committed only.")
        listed = await asked.read(database)
        return _response(await _released(database, FeedPage(listed.items, listed.next, None), uses))
    page = await _next(context, asked, asked.cursor, whole=whole)
    if wait and not page.items:
        context.streams.require_room(caller_of(principal))
        with context.streams.holding(caller_of(principal)):
            page = await _wait(context, asked, page, wait, whole=whole)
    return _response(await _released(database, page, uses))


async def _next(context: ApiContext, asked: Asked, cursor: str | None, *, whole: bool) -> FeedPage:
    return await read_feed(
        context.database, asked.filters, cursor=cursor, limit=asked.limit, whole=whole
    )


async def _wait(
    context: ApiContext, asked: Asked, page: FeedPage, seconds: int, *, whole: bool
) -> FeedPage:
    """Read on until there is an entry or the time is over. No connection is held meanwhile."""
    until = clock.now() + seconds
    while not (page.items or context.is_closing or clock.now() >= until):
        if page.next is None:
            await asyncio.sleep(min(POLL_SECONDS, max(0.0, until - clock.now())))
        page = await _next(context, asked, page.cursor, whole=whole)
    return page


async def _released(database: Database, page: FeedPage, uses: tuple[ApprovedUse, ...]) -> FeedPage:
    items = await release(database, Purpose.FEED, page.items, attrgetter("page_id"), uses)
    return FeedPage(items, page.next, page.cursor)


def _response(page: FeedPage | ChunkPage) -> Response:
    # A batch may hold thousands of entries, which come from the database as they are sent.
    return Response(msgspec.json.encode(page), media_type="application/json")


class ChunksOut(BaseModel):
    """A batch of the chunk feed."""

    items: list[PageChunks]
    next: str | None = Field(description="Cursor if more follow already; else null")
    cursor: str | None = Field(description="Where to continue, now or later")


@router.get("/chunks", response_model=ChunksOut)
@needs(Act.READ)
async def list_chunks(
    database: DatabaseDep,
    uses: DeclaredUses,
    domain: Annotated[DomainText | None, Query(description="Domain")] = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGES, description="Maximum pages per response")] = 50,
) -> Response:
    """List changed pages as markdown chunks by heading, for retrieval systems, in commit order.

    Replace the chunks that you keep of a page by id, delete those in `removed`, and all of a page
    that `is_gone`. A chunk whose hash you know has not changed.
    """
    page = await read_chunks(database, domain=domain, cursor=cursor, limit=limit)
    items = await release(database, Purpose.FEED, page.items, attrgetter("page_id"), uses)
    return _response(ChunkPage(items, page.next, page.cursor))


@router.get(
    "/stream",
    response_class=EventStream,
    responses={200: {"description": "Server-sent events; `id` can be sent as Last-Event-ID"}},
)
@needs(Act.READ)
async def stream_changes(
    request: Request,
    context: ContextDep,
    principal: PrincipalDep,
    uses: DeclaredUses,
    *,
    kinds: Annotated[
        str | None,
        Query(
            pattern=r"^[A-Za-z_.]{1,60}(,[A-Za-z_.]{1,60}){0,49}$",
            description="Kinds or kinds of record, comma-separated",
        ),
    ] = None,
    last_event_id: Annotated[str | None, Header(pattern=ID_PATTERN)] = None,
) -> StreamingResponse:
    """Stream changes as they are committed, from now or from Last-Event-ID."""
    at = position_in(last_event_id) or await newest(context.database)
    follower = ChangeFollower(context.database, ChangeFilter(kinds=kinds), at, uses)
    return stream(request, context, principal, follower)


@dataclass(slots=True)
class ChangeFollower:
    """Reads the feed from a position on."""

    database: Database
    wanted: ChangeFilter
    at: Position
    uses: tuple[ApprovedUse, ...]

    async def read(self) -> Batch:
        found, reached, has_more = await read_after(self.database, self.wanted, self.at, STREAMED)
        has_moved, self.at = bool(found), reached
        leaving = await release(
            self.database, Purpose.FEED, found, attrgetter("page_id"), self.uses
        )
        return Batch([_frame(change) for change in leaving], has_moved, has_more)


def _frame(change: Change) -> bytes:
    data = msgspec.json.encode(change)
    return f"id: {change.id}\nevent: {change.kind}\ndata: ".encode() + data + b"\n\n"
