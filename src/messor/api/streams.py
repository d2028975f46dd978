"""Server-sent events: a stream that lives as long as its caller's session or key, within limits.

What is streamed is up to the follower, which reads the next batch after its own position.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import NamedTuple, Protocol

from fastapi import Request
from starlette.responses import Response, StreamingResponse

from messor.access.errors import AccessError
from messor.access.principal import Principal
from messor.api.context import ApiContext
from messor.api.credentials import identify
from messor.api.models.base import BIGGEST
from messor.core import clock
from messor.errors import UsageError
from messor.store.database import LOST_CONNECTION
from messor.store.listing import Position

POLL_SECONDS = 0.4  # poll interval without notifications
CHECK_SECONDS = 0.8  # how long a stream may outlive its session or key; it sends nothing then
HEARTBEAT_SECONDS = 15.0
ID_PATTERN = r"^[0-9]{1,19}-[0-9]{1,19}$"
_ID = re.compile(r"(\d{1,19})-(\d{1,19})", re.ASCII)


class EventStream(Response):
    """Declares the media type of server-sent events in the OpenAPI document."""

    media_type = "text/event-stream"


class Batch(NamedTuple):
    """What a follower read: frames to send, whether it moved, and whether more follow already."""

    frames: list[bytes]
    has_moved: bool
    has_more: bool


class Follower(Protocol):
    """Reads what follows its position, which it moves."""

    async def read(self) -> Batch: ...


def stream(
    request: Request, context: ApiContext, principal: Principal, follower: Follower
) -> StreamingResponse:
    """Stream what a follower reads; refused if the caller has too many streams."""
    context.streams.require_room(caller_of(principal))
    body = _held(context, principal, _follow(request, context, principal, follower))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(body, media_type="text/event-stream", headers=headers)


def position_in(last_event_id: str | None) -> Position | None:
    """The position that Last-Event-ID gives; None without one."""
    if last_event_id is None:
        return None
    found = _ID.fullmatch(last_event_id)
    tx, number = (int(part) for part in found.groups()) if found else (BIGGEST + 1, 0)
    if max(tx, number) > BIGGEST:
        raise UsageError("Last-Event-ID is not a valid event ID.")
    return Position(str(tx), str(number))


def caller_of(principal: Principal) -> str:
    """All keys of a member count towards the member's limit."""
    return str(principal.member_id or principal.actor)


async def _held(
    context: ApiContext, principal: Principal, frames: AsyncGenerator[bytes, None]
) -> AsyncIterator[bytes]:
    """The stream, counted against the limit while open."""
    with context.streams.holding(caller_of(principal)):
        async with aclosing(frames):
            async for frame in frames:
                yield frame


async def _follow(
    request: Request, context: ApiContext, principal: Principal, follower: Follower
) -> AsyncGenerator[bytes, None]:
    """Stream until the caller disconnects, its session or key ends, or the application stops."""
    last_sent = checked = clock.now()
    seen = 0
    yield b"retry: 2000\n\n"
    async with context.notifications.listening():
        while not context.is_closing:
            try:
                read = await follower.read()
            except LOST_CONNECTION:
                return
            if read.has_moved or clock.now() - checked > CHECK_SECONDS:
                if not await is_still_valid(request, context, principal):
                    return
                checked = clock.now()
            for frame in read.frames:
                yield frame
            if read.frames:
                last_sent = clock.now()
            if read.has_more:
                continue
            if clock.now() - last_sent > HEARTBEAT_SECONDS:
                last_sent = clock.now()
                yield b": still here\n\n"
            seen = await context.notifications.wait(seen, POLL_SECONDS)


async def is_still_valid(request: Request, context: ApiContext, principal: Principal) -> bool:
    """Whether the caller's session or key is still valid."""
    try:
        now = await identify(context, request)
    except (AccessError, *LOST_CONNECTION):
        return False
    return now == principal and not await request.is_disconnected()
