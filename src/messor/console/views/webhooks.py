"""Webhooks: endpoints, event types, deliveries and their management."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from uuid import UUID

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.addresses import place_from, place_of, with_query
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.console.views.tasks import as_uuid
from messor.errors import ConflictError, NotFoundError, UnavailableError, UsageError
from messor.fetch.guard import AddressGuard
from messor.ledger.event_types import EVENT_TYPES
from messor.ops.webhooks import deliveries, dispatch, registry
from messor.ops.webhooks.deliveries import MOST
from messor.ops.webhooks.registry import Webhook
from messor.store.database import Connection

# Offered as checkboxes; others can be typed.
COMMON_TYPES = tuple(name for name, each in EVENT_TYPES.items() if each.is_common)
Action = Callable[[Connection, ConsoleRequest, Webhook], Awaitable[str]]


async def show_all(call: ConsoleRequest) -> Response:
    return await _list(call)


async def add(call: ConsoleRequest) -> Response:
    """Add a webhook; only this response shows its secret."""
    settings = call.context.settings
    try:
        seal, guard = call.context.seal, AddressGuard(settings.allowed_networks)
        async with call.context.database.transaction() as connection:
            made, secret = await registry.add(
                connection,
                seal,
                guard,
                url=call.form.text("url"),
                types=_types(call),
                actor=call.actor,
            )
    except (UsageError, UnavailableError) as error:
        return await _list(call, wrong=str(error), status=422)
    return await _one(call, made, secret=secret)


async def show(call: ConsoleRequest) -> Response:
    return await _one(call, await registry.get(call.context.database, _webhook_id(call)))


async def change(call: ConsoleRequest) -> Response:
    """Apply one action to one webhook."""
    acts: dict[str, Action] = {
        "pause": _pause,
        "resume": _resume,
        "types": _choose,
        "try": _try,
        "redeliver": _redeliver,
        "delete": _delete,
    }
    act = call.form.text("act")
    if act not in acts:
        raise UsageError(f"The action must be one of {', '.join(acts)}.")
    webhook = await registry.get(call.context.database, _webhook_id(call))
    try:
        async with call.context.database.transaction() as connection:
            message = await acts[act](connection, call, webhook)
    except (UsageError, ConflictError) as error:
        return await _one(call, webhook, wrong=str(error), status=422)
    return call.go("/webhooks" if act == "delete" else f"/webhooks/{webhook.id}", message)


async def _pause(connection: Connection, call: ConsoleRequest, webhook: Webhook) -> str:
    await registry.change(connection, webhook.id, is_active=False, actor=call.actor)
    return f"{webhook.url} was paused."


async def _resume(connection: Connection, call: ConsoleRequest, webhook: Webhook) -> str:
    await registry.change(connection, webhook.id, is_active=True, actor=call.actor)
    return f"{webhook.url} was resumed and receives new events."


async def _choose(connection: Connection, call: ConsoleRequest, webhook: Webhook) -> str:
    changed = await registry.change(connection, webhook.id, types=_types(call), actor=call.actor)
    return f"{webhook.url} now receives {', '.join(changed.types) or 'all event types'}."


async def _try(connection: Connection, call: ConsoleRequest, webhook: Webhook) -> str:
    await dispatch.ping(connection, webhook, actor=call.actor)
    return "A test event of type webhook.ping was queued."


async def _redeliver(connection: Connection, call: ConsoleRequest, webhook: Webhook) -> str:
    job_id = as_uuid(call.form.text("delivery"))
    if job_id is None:
        raise UsageError("Select a delivery.")
    await deliveries.redeliver(connection, webhook, job_id, actor=call.actor)
    return "The delivery was queued again under the same ID."


async def _delete(connection: Connection, call: ConsoleRequest, webhook: Webhook) -> str:
    await registry.remove(connection, webhook.id, actor=call.actor)
    return f"{webhook.url} and its secret were deleted."


def _types(call: ConsoleRequest) -> list[str]:
    """The selected and typed event types, separated by spaces or commas."""
    typed = call.form.text("others").replace(",", " ").split()
    return [*call.form.every("type"), *typed]


def _webhook_id(call: ConsoleRequest) -> UUID:
    webhook_id = as_uuid(call.part("webhook_id"))
    if webhook_id is None:
        raise NotFoundError("No such webhook.")
    return webhook_id


async def _list(call: ConsoleRequest, *, wrong: str | None = None, status: int = 200) -> Response:
    return await call.page(
        "webhooks/list.html",
        status=status,
        wrong=wrong,
        rows=await registry.listing(call.context.database),
        common_types=COMMON_TYPES,
        selected=call.form.every("type"),
        form=call.form,
    )


async def _one(
    call: ConsoleRequest,
    webhook: Webhook,
    *,
    wrong: str | None = None,
    secret: str | None = None,
    status: int = 200,
) -> Response:
    found = await deliveries.listing(
        call.context.database, webhook.id, before=place_from(call.query("before")), limit=MOST + 1
    )
    here = f"/webhooks/{webhook.id}"
    return await call.page(
        "webhooks/webhook.html",
        status=status,
        wrong=wrong,
        secret=secret,
        webhook=webhook,
        rows=found[:MOST],
        more=with_query(here, before=place_of(found[MOST - 1].created_at, found[MOST - 1].id))
        if len(found) > MOST
        else None,
        first=here if call.query("before") else None,
        common_types=COMMON_TYPES,
        names=await call.names({webhook.created_by}),
    )


SCREENS = (
    get("/webhooks", Act.WEBHOOKS_MANAGE, show_all),
    post("/webhooks", Act.WEBHOOKS_MANAGE, add),
    get("/webhooks/{webhook_id}", Act.WEBHOOKS_MANAGE, show),
    post("/webhooks/{webhook_id}", Act.WEBHOOKS_MANAGE, change),
)
