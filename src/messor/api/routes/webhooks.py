"""Webhooks: who is told of events. A secret is shown once, when its webhook is made."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter, Response

from messor.access.roles import Act
from messor.api.gate import GatedRoute, needs
from messor.api.house import Here, Source, Unit, Who
from messor.api.models.operations import (
    DeliveriesOut,
    DeliveryOut,
    NewWebhookOut,
    PingOut,
    WebhookChangeIn,
    WebhookIn,
    WebhookOut,
    WebhooksOut,
)
from messor.errors import UsageError
from messor.fetch.guard import AddressGuard
from messor.ops.webhooks import deliveries, dispatch, registry

router = APIRouter(prefix="/webhooks", tags=["webhooks"], route_class=GatedRoute)


@router.get("")
@needs(Act.WEBHOOKS_MANAGE)
async def list_webhooks(source: Source) -> WebhooksOut:
    """All webhooks, and how each has done."""
    found = await registry.listing(source)
    return WebhooksOut(items=[WebhookOut.model_validate(one) for one in found])


@router.post("", status_code=201)
@needs(Act.WEBHOOKS_MANAGE, tells_secret=True)
async def add_webhook(
    given: WebhookIn, unit: Unit, who: Who, here: Here, response: Response
) -> NewWebhookOut:
    """Have somebody told of what happens from now on."""
    made, secret = await registry.add(
        unit,
        here.seal,
        AddressGuard(here.settings.allowed_networks),
        url=given.url,
        types=given.types,
        actor=who.actor,
    )
    response.headers["Location"] = f"/api/v1/webhooks/{made.id}"
    return NewWebhookOut(webhook=WebhookOut.model_validate(made), secret=secret)


@router.get("/{webhook_id}")
@needs(Act.WEBHOOKS_MANAGE)
async def show_webhook(webhook_id: UUID, source: Source) -> WebhookOut:
    """One webhook, without its secret."""
    return WebhookOut.model_validate(await registry.get(source, webhook_id))


@router.patch("/{webhook_id}")
@needs(Act.WEBHOOKS_MANAGE)
async def change_webhook(
    webhook_id: UUID, given: WebhookChangeIn, unit: Unit, who: Who
) -> WebhookOut:
    """Other types, off, or on again: then it is told of what happens from then on."""
    if given.types is None and given.is_active is None:
        raise UsageError("Say what to change: types or is_active.")
    changed = await registry.change(
        unit, webhook_id, types=given.types, is_active=given.is_active, actor=who.actor
    )
    return WebhookOut.model_validate(changed)


@router.delete("/{webhook_id}", status_code=204)
@needs(Act.WEBHOOKS_MANAGE)
async def remove_webhook(webhook_id: UUID, unit: Unit, who: Who) -> None:
    """Tell it nothing more."""
    await registry.remove(unit, webhook_id, actor=who.actor)


@router.post("/{webhook_id}/ping", status_code=202)
@needs(Act.WEBHOOKS_MANAGE)
async def ping_webhook(webhook_id: UUID, unit: Unit, who: Who) -> PingOut:
    """Try it: one event of the type webhook.ping, to this webhook alone."""
    job = await dispatch.ping(unit, await registry.get(unit, webhook_id), actor=who.actor)
    return PingOut(job_id=job.id)


@router.get("/{webhook_id}/deliveries")
@needs(Act.WEBHOOKS_MANAGE)
async def list_deliveries(webhook_id: UUID, source: Source) -> DeliveriesOut:
    """What it was told lately, and how that went: the newest first."""
    webhook = await registry.get(source, webhook_id)
    found = await deliveries.listing(source, webhook.id)
    return DeliveriesOut(items=[DeliveryOut.model_validate(one) for one in found])


@router.post("/{webhook_id}/deliveries/{delivery_id}/redeliver", status_code=202)
@needs(Act.WEBHOOKS_MANAGE)
async def redeliver(webhook_id: UUID, delivery_id: UUID, unit: Unit, who: Who) -> PingOut:
    """Send one delivery once more, at once, under the same id."""
    webhook = await registry.get(unit, webhook_id)
    return PingOut(job_id=await deliveries.redeliver(unit, webhook, delivery_id, actor=who.actor))
