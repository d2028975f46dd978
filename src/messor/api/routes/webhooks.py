"""Webhooks and their deliveries. A secret is returned only on creation."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter, Response

from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.models.operations import (
    DeliveriesOut,
    NewWebhookOut,
    PingOut,
    WebhookChangeIn,
    WebhookIn,
    WebhooksOut,
)
from messor.errors import UsageError
from messor.fetch.guard import AddressGuard
from messor.ops.webhooks import deliveries, dispatch, registry
from messor.ops.webhooks.registry import Webhook

router = APIRouter(prefix="/webhooks", tags=["webhooks"], route_class=GatedRoute)


@router.get("")
@needs(Act.WEBHOOKS_MANAGE)
async def list_webhooks(database: DatabaseDep) -> WebhooksOut:
    """List webhooks with statistics."""
    found = await registry.listing(database)
    return WebhooksOut(items=list(found))


@router.post("", status_code=201)
@needs(Act.WEBHOOKS_MANAGE, returns_secret=True)
async def add_webhook(
    given: WebhookIn,
    connection: TransactionDep,
    principal: PrincipalDep,
    context: ContextDep,
    response: Response,
) -> NewWebhookOut:
    """Add a webhook for events from now on."""
    made, secret = await registry.add(
        connection,
        context.seal,
        AddressGuard(context.settings.allowed_networks),
        url=given.url,
        types=given.types,
        actor=principal.actor,
    )
    response.headers["Location"] = f"/api/v1/webhooks/{made.id}"
    return NewWebhookOut(webhook=made, secret=secret)


@router.get("/{webhook_id}")
@needs(Act.WEBHOOKS_MANAGE)
async def show_webhook(webhook_id: UUID, database: DatabaseDep) -> Webhook:
    """Get a webhook, without its secret."""
    return await registry.get(database, webhook_id)


@router.patch("/{webhook_id}")
@needs(Act.WEBHOOKS_MANAGE)
async def change_webhook(
    webhook_id: UUID, given: WebhookChangeIn, connection: TransactionDep, principal: PrincipalDep
) -> Webhook:
    """Change event types, pause or resume; a resumed webhook receives new events only."""
    if given.types is None and given.is_active is None:
        raise UsageError("Specify types or is_active.")
    return await registry.change(
        connection, webhook_id, types=given.types, is_active=given.is_active, actor=principal.actor
    )


@router.delete("/{webhook_id}", status_code=204)
@needs(Act.WEBHOOKS_MANAGE)
async def remove_webhook(
    webhook_id: UUID, connection: TransactionDep, principal: PrincipalDep
) -> None:
    """Delete a webhook."""
    await registry.remove(connection, webhook_id, actor=principal.actor)


@router.post("/{webhook_id}/ping", status_code=202)
@needs(Act.WEBHOOKS_MANAGE)
async def ping_webhook(
    webhook_id: UUID, connection: TransactionDep, principal: PrincipalDep
) -> PingOut:
    """Send a test event of type webhook.ping to this webhook."""
    job = await dispatch.ping(
        connection, await registry.get(connection, webhook_id), actor=principal.actor
    )
    return PingOut(job_id=job.id)


@router.get("/{webhook_id}/deliveries")
@needs(Act.WEBHOOKS_MANAGE)
async def list_deliveries(webhook_id: UUID, database: DatabaseDep) -> DeliveriesOut:
    """List recent deliveries, newest first."""
    webhook = await registry.get(database, webhook_id)
    found = await deliveries.listing(database, webhook.id)
    return DeliveriesOut(items=list(found))


@router.post("/{webhook_id}/deliveries/{delivery_id}/redeliver", status_code=202)
@needs(Act.WEBHOOKS_MANAGE)
async def redeliver(
    webhook_id: UUID, delivery_id: UUID, connection: TransactionDep, principal: PrincipalDep
) -> PingOut:
    """Resend a delivery immediately under the same ID."""
    webhook = await registry.get(connection, webhook_id)
    return PingOut(
        job_id=await deliveries.redeliver(connection, webhook, delivery_id, actor=principal.actor)
    )
