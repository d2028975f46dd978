"""Events: the ledger page by page, and as a stream that goes on where a caller left it."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response, StreamingResponse

from messor.access.errors import AccessError
from messor.access.principal import Principal
from messor.access.roles import Act
from messor.api.credentials import identify
from messor.api.cursors import CursorParam, Listing, Pager, PageSize, PositiveInt
from messor.api.gate import GatedRoute, needs
from messor.api.house import ApiContext, Here, Source, Who
from messor.api.models.base import BIGGEST
from messor.api.models.operations import EventOut
from messor.api.routes.domains import name_of
from messor.api.routes.tasks import DomainFilter
from messor.core import clock
from messor.errors import UsageError
from messor.ledger import queries
from messor.ledger.events import Cursor, RecordedEvent
from messor.ledger.queries import EventFilter
from messor.registry import domains as registry
from messor.store.database import LOST_CONNECTION

router = APIRouter(prefix="/events", tags=["events"], route_class=GatedRoute)

POLL_SECONDS = 0.4  # between looks when nothing is heard of
CHECK_SECONDS = 0.8  # how long a stream may outlast its session or key; it tells nothing meanwhile
HEARTBEAT_SECONDS = 15.0
BATCH = 200
_ID = re.compile(r"(\d{1,19})-(\d{1,19})", re.ASCII)

Types = Annotated[
    list[Annotated[str, Query(pattern=r"^[a-z_]{1,40}\.[a-z_]{1,60}$")]] | None,
    Query(alias="type", max_length=50, description="Such as domain.approved; several may be given"),
]


class EventStream(Response):
    """Named for the document: its media type is that of server-sent events."""

    media_type = "text/event-stream"


@router.get("")
@needs(Act.READ)
async def list_events(
    source: Source,
    who: Who,
    *,
    types: Types = None,
    domain: DomainFilter = None,
    page_id: Annotated[int | None, Query(ge=1, le=BIGGEST)] = None,
    order: Literal["oldest", "newest"] = "oldest",
    cursor: CursorParam = None,
    limit: PageSize = 50,
) -> Listing[EventOut]:
    """What happened, in the order it was committed. Who logged in is for the audit's readers.

    An answer looks at a stretch of the ledger: it may hold few items, or none, and go on.
    """
    domain_id: UUID | None = None
    if domain is not None:
        domain_id = (await registry.get(source, name_of(domain))).id
    wanted = EventFilter(types, domain_id, page_id, with_audit=who.may(Act.AUDIT_READ))
    pager = Pager("events", types, domain_id, page_id, order)
    at = pager.read(cursor, tuple[PositiveInt, PositiveInt])
    found = await queries.look(
        source,
        wanted,
        beyond=Cursor(*at) if at else None,
        newest_first=order == "newest",
        limit=limit,
    )
    reached = found.reached
    return Listing(
        items=[_shown(row) for row in found.events],
        next=pager.write((reached.tx, reached.id)) if reached else None,
    )


def _shown(recorded: RecordedEvent) -> EventOut:
    event = recorded.event
    return EventOut(
        id=_id(recorded.cursor),
        occurred_at=recorded.occurred_at,
        type=event.type,
        actor=event.actor,
        domain_id=event.domain_id,
        page_id=event.page_id,
        data=event.data or {},
    )


def _id(cursor: Cursor) -> str:
    return f"{cursor.tx}-{cursor.id}"


@router.get(
    "/stream",
    response_class=EventStream,
    responses={200: {"description": "Server-sent events; `id` is what Last-Event-ID takes"}},
)
@needs(Act.READ)
async def stream_events(
    request: Request,
    here: Here,
    who: Who,
    *,
    types: Types = None,
    last_event_id: Annotated[str | None, Header(pattern=r"^[0-9]{1,19}-[0-9]{1,19}$")] = None,
) -> StreamingResponse:
    """What happens from now on, or from Last-Event-ID on, as it is committed."""
    cursor = _given(last_event_id) or await queries.newest(here.database)
    here.streams.require_room(_caller(who))
    wanted = EventFilter(types, with_audit=who.may(Act.AUDIT_READ))
    body = _held(here, who, _follow(request, here, who, wanted, cursor))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(body, media_type="text/event-stream", headers=headers)


def _given(text: str | None) -> Cursor | None:
    if text is None:
        return None
    found = _ID.fullmatch(text)
    tx, number = (int(part) for part in found.groups()) if found else (BIGGEST + 1, 0)
    if max(tx, number) > BIGGEST:
        raise UsageError("Last-Event-ID is not the id of an event.")
    return Cursor(tx, number)


def _caller(who: Principal) -> str:
    """All keys of a member count as the member."""
    return str(who.member_id or who.actor)


async def _held(
    here: ApiContext, who: Principal, frames: AsyncGenerator[bytes, None]
) -> AsyncIterator[bytes]:
    """The same, counted as long as it is open."""
    with here.streams.holding(_caller(who)):
        async with aclosing(frames):
            async for frame in frames:
                yield frame


async def _follow(
    request: Request, here: ApiContext, who: Principal, wanted: EventFilter, cursor: Cursor
) -> AsyncGenerator[bytes, None]:
    """Until the caller goes, their session or key ends, or the application does."""
    told = checked = clock.now()
    heard = 0
    yield b"retry: 2000\n\n"
    async with here.bell.listening():
        while not here.is_closing:
            try:
                found = await queries.look(here.database, wanted, beyond=cursor, limit=BATCH)
            except LOST_CONNECTION:
                return
            if found.events or clock.now() - checked > CHECK_SECONDS:
                if not await _is_still(request, here, who):
                    return
                checked = clock.now()
            for recorded in found.events:
                cursor = recorded.cursor
                yield _frame(recorded)
            if found.events:
                told = clock.now()
            if found.reached is not None:
                cursor = found.reached
                continue
            if clock.now() - told > HEARTBEAT_SECONDS:
                told = clock.now()
                yield b": still here\n\n"
            heard = await here.bell.wait(heard, POLL_SECONDS)


async def _is_still(request: Request, here: ApiContext, who: Principal) -> bool:
    """Whether what let the caller in still holds, and is still theirs."""
    try:
        now = await identify(here, request)
    except (AccessError, *LOST_CONNECTION):
        return False
    return now == who and not await request.is_disconnected()


def _frame(recorded: RecordedEvent) -> bytes:
    data = msgspec.json.encode(_shown(recorded).model_dump(mode="json"))
    head = f"id: {_id(recorded.cursor)}\nevent: {recorded.event.type}\n".encode()
    return head + b"data: " + data + b"\n\n"
