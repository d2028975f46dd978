"""Watches: made, previewed, switched on and off; their alerts, and feeds that a token opens."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, is_public, needs
from messor.api.listing import ListRequest, list_request
from messor.api.problems import Problem
from messor.store.listing import ListPage
from messor.watches import feeds, watches
from messor.watches.conditions import Noun
from messor.watches.preview import DAYS, preview
from messor.watches.queries import ALERTS, WATCHES, Alert, AlertFilter, WatchFilter
from messor.watches.send import Sender
from messor.watches.watches import Channel, Digest, NewWatch, Watch

router = APIRouter(prefix="/watches", tags=["watches"], route_class=GatedRoute)


class WatchIn(BaseModel):
    """A watch to make."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=200)
    noun: Noun
    condition: dict[str, Any] = Field(
        description='Such as {"when": "falls", "field": "price", "percent": 10}'
    )
    filters: dict[str, Any] = Field({}, description="Filters of the noun's list")
    channel: Channel = "feed"
    recipient: str | None = Field(None, max_length=320, description="Mail address")
    webhook_id: UUID | None = Field(None, description="Webhook of the channels webhook and slack")
    digest: Digest = "at_once"
    zone: str = Field("UTC", max_length=60, description="Time zone of digests and quiet hours")
    hour: int = Field(8, ge=0, le=23, description="Hour of digests")
    quiet_from: int | None = Field(None, ge=0, le=23)
    quiet_to: int | None = Field(None, ge=0, le=23)


class NewWatchOut(BaseModel):
    """A watch and the token of its feed, shown once."""

    watch: Watch
    token: str


class TokenOut(BaseModel):
    token: str


class SwitchIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    is_active: bool


class WouldTell(BaseModel):
    """One alert of a preview."""

    message: str
    subject: str
    url: str | None
    occurred_at: datetime


class PreviewOut(BaseModel):
    days: int
    items: list[WouldTell]


@router.get("")
@needs(Act.READ)
async def list_watches(
    database: DatabaseDep,
    asked: Annotated[ListRequest[Watch, WatchFilter], list_request(WATCHES)],
) -> ListPage[Watch]:
    """List watches, newest first."""
    return await asked.read(database)


@router.post("", status_code=201)
@needs(Act.WATCHES_MANAGE, returns_secret=True)
async def add_watch(
    given: WatchIn, connection: TransactionDep, principal: PrincipalDep, response: Response
) -> NewWatchOut:
    """Make a watch, switched off: look at its preview, then switch it on."""
    watch, token = await watches.add(
        connection, NewWatch(**given.model_dump()), actor=principal.actor
    )
    response.headers["Location"] = f"/api/v1/watches/{watch.id}"
    return NewWatchOut(watch=watch, token=token.reveal())


@router.get(
    "/feeds/{token}/{form}",
    response_class=Response,
    responses={
        200: {
            "content": {kind: {"schema": {"type": "string"}} for kind in feeds.MEDIA_TYPES.values()}
        },
        404: {"model": Problem, "description": "No watch has this token"},
        422: {"model": Problem, "description": "There is no such form"},
    },
)
@is_public
async def show_feed(
    token: Annotated[str, Path(max_length=200)], form: feeds.Form, context: ContextDep
) -> Response:
    """The alerts of a watch as RSS, Atom or JSON Feed, for whoever knows its token."""
    watch = await watches.of_token(context.database, token)
    alerts = await feeds.newest_alerts(context.database, watch)
    sender = Sender.of(context.settings, context.database)
    body = feeds.render(form, watch, alerts, sender)
    return Response(body, media_type=feeds.MEDIA_TYPES[form])


@router.get("/{watch_id}")
@needs(Act.READ)
async def show_watch(watch_id: UUID, database: DatabaseDep) -> Watch:
    """Get a watch."""
    return await watches.get(database, watch_id)


@router.get("/{watch_id}/preview")
@needs(Act.READ)
async def show_preview(watch_id: UUID, database: DatabaseDep) -> PreviewOut:
    """What the watch would have told in the last 30 days, newest first."""
    told = await preview(database, await watches.get(database, watch_id))
    items = [
        WouldTell(
            message=one.message,
            subject=one.change.subject,
            url=one.change.url,
            occurred_at=one.change.occurred_at,
        )
        for one in told
    ]
    return PreviewOut(days=DAYS, items=items)


@router.get("/{watch_id}/alerts")
@needs(Act.READ)
async def list_alerts(
    watch_id: UUID,
    database: DatabaseDep,
    asked: Annotated[ListRequest[Alert, AlertFilter], list_request(ALERTS, without=("watch_id",))],
) -> ListPage[Alert]:
    """List the alerts of a watch, newest first."""
    await watches.get(database, watch_id)
    return await asked.read(database, watch_id=watch_id)


@router.patch("/{watch_id}")
@needs(Act.WATCHES_MANAGE)
async def switch_watch(
    watch_id: UUID, given: SwitchIn, connection: TransactionDep, principal: PrincipalDep
) -> Watch:
    """Switch a watch on, for what changes from now on, or off."""
    return await watches.switch(connection, watch_id, on=given.is_active, actor=principal.actor)


@router.post("/{watch_id}/token")
@needs(Act.WATCHES_MANAGE, returns_secret=True)
async def renew_token(
    watch_id: UUID, connection: TransactionDep, principal: PrincipalDep
) -> TokenOut:
    """Replace the token of the watch's feed."""
    token = await watches.renew_token(connection, watch_id, actor=principal.actor)
    return TokenOut(token=token.reveal())


@router.delete("/{watch_id}", status_code=204)
@needs(Act.WATCHES_MANAGE)
async def remove_watch(watch_id: UUID, connection: TransactionDep, principal: PrincipalDep) -> None:
    """Delete a watch and its alerts."""
    await watches.remove(connection, watch_id, actor=principal.actor)
