"""Events: the ledger as a paginated list and as a resumable stream."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated

import msgspec
from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response, StreamingResponse

from messor.access.errors import AccessError
from messor.access.principal import Principal
from messor.access.roles import Act
from messor.api.context import ApiContext, ContextDep, DatabaseDep, PrincipalDep
from messor.api.credentials import identify
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.base import BIGGEST
from messor.core import clock
from messor.errors import UsageError
from messor.ledger import queries
from messor.ledger.queries import EVENTS, EventFilter, ListedEvent
from messor.store.database import LOST_CONNECTION
from messor.store.listing import ListPage, Position

router = APIRouter(prefix="/events", tags=["events"], route_class=GatedRoute)

POLL_SECONDS = 0.4  # poll interval without notifications
CHECK_SECONDS = 0.8  # how long a stream may outlive its session or key; it sends nothing then
HEARTBEAT_SECONDS = 15.0
BATCH = 200
_ID = re.compile(r"(\d{1,19})-(\d{1,19})", re.ASCII)

Types = Annotated[
    list[Annotated[str, Query(pattern=r"^[a-z_]{1,40}\.[a-z_]{1,60}$")]] | None,
    Query(alias="type", max_length=50, description="For example domain.approved; may be repeated"),
]


class EventStream(Response):
    """Declares the media type of server-sent events in the OpenAPI document."""

    media_type = "text/event-stream"


@router.get("")
@needs(Act.READ)
async def list_events(
    database: DatabaseDep,
    principal: PrincipalDep,
    asked: Annotated[
        ListRequest[ListedEvent, EventFilter], list_request(EVENTS, without=("with_audit",))
    ],
) -> ListPage[ListedEvent]:
    """List events in commit order. Login events are limited to audit readers.

    A response scans a bounded part of the ledger, so it may contain few or no items although more follow.
    """
    return await asked.read(database, with_audit=principal.may(Act.AUDIT_READ))


@router.get(
    "/stream",
    response_class=EventStream,
    responses={200: {"description": "Server-sent events; `id` can be sent as Last-Event-ID"}},
)
@needs(Act.READ)
async def stream_events(
    request: Request,
    context: ContextDep,
    principal: PrincipalDep,
    *,
    types: Types = None,
    last_event_id: Annotated[str | None, Header(pattern=r"^[0-9]{1,19}-[0-9]{1,19}$")] = None,
) -> StreamingResponse:
    """Stream events as they are committed, from now or from Last-Event-ID."""
    at = _given(last_event_id) or await queries.newest(context.database)
    context.streams.require_room(_caller(principal))
    wanted = EventFilter(
        type=",".join(types) if types else None, with_audit=principal.may(Act.AUDIT_READ)
    )
    body = _held(context, principal, _follow(request, context, principal, wanted, at))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(body, media_type="text/event-stream", headers=headers)


def _given(text: str | None) -> Position | None:
    if text is None:
        return None
    found = _ID.fullmatch(text)
    tx, number = (int(part) for part in found.groups()) if found else (BIGGEST + 1, 0)
    if max(tx, number) > BIGGEST:
        raise UsageError("Last-Event-ID is not a valid event ID.")
    return Position(str(tx), str(number))


def _caller(principal: Principal) -> str:
    """All keys of a member count towards the member's limit."""
    return str(principal.member_id or principal.actor)


async def _held(
    context: ApiContext, principal: Principal, frames: AsyncGenerator[bytes, None]
) -> AsyncIterator[bytes]:
    """The stream, counted against the limit while open."""
    with context.streams.holding(_caller(principal)):
        async with aclosing(frames):
            async for frame in frames:
                yield frame


async def _follow(
    request: Request, context: ApiContext, principal: Principal, wanted: EventFilter, at: Position
) -> AsyncGenerator[bytes, None]:
    """Stream until the caller disconnects, its session or key ends, or the application stops."""
    last_sent = checked = clock.now()
    seen = 0
    yield b"retry: 2000\n\n"
    async with context.notifications.listening():
        while not context.is_closing:
            try:
                found, reached = await EVENTS.select(
                    context.database, wanted, "committed", at, BATCH
                )
            except LOST_CONNECTION:
                return
            if found or clock.now() - checked > CHECK_SECONDS:
                if not await _is_still_valid(request, context, principal):
                    return
                checked = clock.now()
            for event in found:
                at = event.position
                yield _frame(event)
            if found:
                last_sent = clock.now()
            if reached is not None:
                at = reached
                continue
            if clock.now() - last_sent > HEARTBEAT_SECONDS:
                last_sent = clock.now()
                yield b": still here\n\n"
            seen = await context.notifications.wait(seen, POLL_SECONDS)


async def _is_still_valid(request: Request, context: ApiContext, principal: Principal) -> bool:
    """Whether the caller's session or key is still valid."""
    try:
        now = await identify(context, request)
    except (AccessError, *LOST_CONNECTION):
        return False
    return now == principal and not await request.is_disconnected()


def _frame(event: ListedEvent) -> bytes:
    data = msgspec.json.encode(event)
    return f"id: {event.id}\nevent: {event.type}\ndata: ".encode() + data + b"\n\n"
