"""Proxies: other ways to the sites whose domains ask for them. Passwords go in, never out."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from fastapi import APIRouter, Path, Response

from messor.access.roles import Act
from messor.api.gate import GatedRoute, needs
from messor.api.house import Here, Source, Unit, Who
from messor.api.models.operations import ProxiesOut, ProxyIn, ProxyOut, ProxySwitchIn
from messor.errors import UsageError
from messor.fetch.proxies import placement, registry
from messor.fetch.proxies.proxy import check_password, understand

router = APIRouter(prefix="/proxies", tags=["proxies"], route_class=GatedRoute)

ProxyId = Annotated[int, Path(ge=1, le=2**31 - 1)]


@router.get("")
@needs(Act.PROXIES_MANAGE)
async def list_proxies(source: Source) -> ProxiesOut:
    """All proxies, and how each has done."""
    return ProxiesOut(
        items=[ProxyOut.model_validate(one) for one in await registry.listing(source)]
    )


@router.post("", status_code=201)
@needs(Act.PROXIES_MANAGE)
async def add_proxy(
    given: ProxyIn, unit: Unit, who: Who, here: Here, response: Response
) -> ProxyOut:
    """Put a proxy into the pool; its password is encrypted."""
    endpoint, password = understand(given.url)
    if given.password is not None:
        if password is not None:
            raise UsageError("Give the password in the URL or by itself, not both.")
        check_password(endpoint, given.password)
        password = given.password
    await placement.judge(here.settings, endpoint, trusted=False)
    cost = None if given.cost_per_request is None else Decimal(str(given.cost_per_request))
    known = await registry.add(
        unit, here.seal, endpoint, password, actor=who.actor, cost_per_request=cost
    )
    response.headers["Location"] = f"/api/v1/proxies/{known.id}"
    return ProxyOut.model_validate(known)


@router.get("/{proxy_id}")
@needs(Act.PROXIES_MANAGE)
async def show_proxy(proxy_id: ProxyId, source: Source) -> ProxyOut:
    """One proxy."""
    return ProxyOut.model_validate(await registry.get(source, str(proxy_id)))


@router.patch("/{proxy_id}")
@needs(Act.PROXIES_MANAGE)
async def switch_proxy(proxy_id: ProxyId, given: ProxySwitchIn, unit: Unit, who: Who) -> ProxyOut:
    """Enable or disable a proxy."""
    known = await registry.get(unit, str(proxy_id))
    changed = await registry.switch(unit, known, active=given.is_active, actor=who.actor)
    return ProxyOut.model_validate(changed)


@router.delete("/{proxy_id}", status_code=204)
@needs(Act.PROXIES_MANAGE)
async def remove_proxy(proxy_id: ProxyId, unit: Unit, who: Who) -> None:
    """Forget a proxy and its password."""
    known = await registry.get(unit, str(proxy_id))
    await registry.remove(unit, known, actor=who.actor)
