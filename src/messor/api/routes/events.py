"""Events: the ledger as a paginated list and as a resumable stream."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated

import msgspec
from fastapi import APIRouter, Header, Query, Request
from starlette.responses import StreamingResponse

from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep, PrincipalDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.streams import ID_PATTERN, Batch, EventStream, position_in, stream
from messor.ledger import queries
from messor.ledger.queries import EVENTS, EventFilter, ListedEvent
from messor.rights.release import Purpose, release
from messor.store.database import Database
from messor.store.listing import ListPage, Position

router = APIRouter(prefix="/events", tags=["events"], route_class=GatedRoute)

BATCH = 200

Types = Annotated[
    list[Annotated[str, Query(pattern=r"^[a-z_]{1,40}\.[a-z_]{1,60}$")]] | None,
    Query(alias="type", max_length=50, description="For example domain.approved; may be repeated"),
]


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
    last_event_id: Annotated[str | None, Header(pattern=ID_PATTERN)] = None,
) -> StreamingResponse:
    """Stream events as they are committed, from now or from Last-Event-ID."""
    at = position_in(last_event_id) or await queries.newest(context.database)
    wanted = EventFilter(
        type=",".join(types) if types else None, with_audit=principal.may(Act.AUDIT_READ)
    )
    return stream(request, context, principal, EventFollower(context.database, wanted, at))


@dataclass(slots=True)
class EventFollower:
    """Reads the ledger from a position on."""

    database: Database
    wanted: EventFilter
    at: Position

    async def read(self) -> Batch:
        found, reached = await EVENTS.select(
            self.database, self.wanted, "committed", self.at, BATCH
        )
        if found or reached:
            self.at = reached or found[-1].position
        leaving = await release(self.database, Purpose.FEED, found, attrgetter("page_id"))
        return Batch([_frame(event) for event in leaving], bool(found), reached is not None)


def _frame(event: ListedEvent) -> bytes:
    data = msgspec.json.encode(event)
    return f"id: {event.id}\nevent: {event.type}\ndata: ".encode() + data + b"\n\n"
