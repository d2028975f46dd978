"""Proxies for domains that enable them. Passwords are never returned."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.models.operations import ProxiesOut, ProxyCostsOut, ProxyIn, ProxyOut, ProxySwitchIn
from messor.api.routes.domains import name_of
from messor.errors import UsageError
from messor.fetch.proxies import costs, placement, registry
from messor.fetch.proxies.costs import DEFAULT_DAYS, MAX_DAYS
from messor.fetch.proxies.proxy import check_password, understand

router = APIRouter(prefix="/proxies", tags=["proxies"], route_class=GatedRoute)

ProxyId = Annotated[int, Path(ge=1, le=2**31 - 1)]


@router.get("")
@needs(Act.PROXIES_MANAGE)
async def list_proxies(database: DatabaseDep) -> ProxiesOut:
    """List proxies with statistics."""
    return ProxiesOut(
        items=[ProxyOut.model_validate(one) for one in await registry.listing(database)]
    )


@router.post("", status_code=201)
@needs(Act.PROXIES_MANAGE)
async def add_proxy(
    given: ProxyIn,
    connection: TransactionDep,
    principal: PrincipalDep,
    context: ContextDep,
    response: Response,
) -> ProxyOut:
    """Add a proxy; its password is stored encrypted."""
    endpoint, password = understand(given.url)
    if given.password is not None:
        if password is not None:
            raise UsageError("Give the password in the URL or in the password field, not both.")
        check_password(endpoint, given.password)
        password = given.password
    await placement.judge(context.settings, endpoint, trusted=False)
    cost = None if given.cost_per_request is None else Decimal(str(given.cost_per_request))
    known = await registry.add(
        connection, context.seal, endpoint, password, actor=principal.actor, cost_per_request=cost
    )
    response.headers["Location"] = f"/api/v1/proxies/{known.id}"
    return ProxyOut.model_validate(known)


@router.get("/costs")
@needs(Act.PROXIES_MANAGE)
async def list_proxy_costs(
    database: DatabaseDep,
    days: Annotated[int, Query(ge=1, le=MAX_DAYS, description="Today included")] = DEFAULT_DAYS,
    domain: Annotated[str | None, Query(max_length=253)] = None,
) -> ProxyCostsOut:
    """List requests and their cost by day (UTC), domain and proxy, newest day first."""
    name = None if domain is None else name_of(domain)
    return ProxyCostsOut(items=await costs.by_day(database, days, name))


@router.get("/{proxy_id}")
@needs(Act.PROXIES_MANAGE)
async def show_proxy(proxy_id: ProxyId, database: DatabaseDep) -> ProxyOut:
    """Get a proxy."""
    return ProxyOut.model_validate(await registry.get(database, str(proxy_id)))


@router.patch("/{proxy_id}")
@needs(Act.PROXIES_MANAGE)
async def switch_proxy(
    proxy_id: ProxyId, given: ProxySwitchIn, connection: TransactionDep, principal: PrincipalDep
) -> ProxyOut:
    """Enable or disable a proxy."""
    known = await registry.get(connection, str(proxy_id))
    changed = await registry.switch(
        connection, known, active=given.is_active, actor=principal.actor
    )
    return ProxyOut.model_validate(changed)


@router.delete("/{proxy_id}", status_code=204)
@needs(Act.PROXIES_MANAGE)
async def remove_proxy(
    proxy_id: ProxyId, connection: TransactionDep, principal: PrincipalDep
) -> None:
    """Delete a proxy and its password."""
    known = await registry.get(connection, str(proxy_id))
    await registry.remove(connection, known, actor=principal.actor)
