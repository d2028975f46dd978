"""Webhooks that callers give with a request: checked, and sealed for the job that is to be made."""

from __future__ import annotations

import asyncio
from uuid import UUID

from fastapi import Request

from messor.access.principal import Principal
from messor.api.context import context_of
from messor.api.firecrawl.answers import base_of
from messor.api.firecrawl.options import JobWebhookIn
from messor.core.ids import new_id
from messor.errors import UsageError
from messor.fetch.guard import AddressGuard
from messor.ops.webhooks.registry import check_url
from messor.scrape import hooks
from messor.scrape.hooks import JobHook, SealedHook
from messor.scrape.pages import transact
from messor.scrape.refusals import OptionRefusedError
from messor.store.database import Connection


async def sealed_hook(
    given: JobWebhookIn | str | None,
    request: Request,
    principal: Principal,
    owner: UUID | None = None,
) -> SealedHook | None:
    """The hook of a job or monitor that is to be made; None if nobody is to be told."""
    if given is None:
        return None
    context = context_of(request)
    hook = _hook(given, base_of(request), principal)
    hooks.check_hook(hook)
    try:
        await asyncio.to_thread(
            check_url, hook.url, AddressGuard(context.settings.allowed_networks)
        )
    except UsageError as error:
        raise OptionRefusedError(f"webhook.url: {error}") from error

    async def act(connection: Connection) -> None:
        await hooks.secret_of(connection, context.seal, hook.key_id)

    await transact(context.database, act)
    return hook.sealed(context.seal, owner or new_id())


def _hook(given: JobWebhookIn | str, base: str, principal: Principal) -> JobHook:
    if principal.key_id is None:
        raise OptionRefusedError("webhook: jobs of API keys alone are told, for the key signs.")
    if isinstance(given, str):
        return JobHook(given, principal.key_id, base, uses=list(principal.uses))
    return JobHook(
        given.url,
        principal.key_id,
        base,
        given.headers or {},
        given.metadata or {},
        [name.rpartition(".")[2] for name in given.events or ()],
        list(principal.uses),
    )
