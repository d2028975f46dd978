"""Decisions on domains, single and bulk, purge and erasure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from fastapi import APIRouter, Request, Response

from messor.access.roles import Act
from messor.api import etags
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep, context_of
from messor.api.gate import GatedRoute, needs
from messor.api.models.base import DomainName
from messor.api.models.domains import (
    BulkIn,
    BulkOut,
    DecisionIn,
    ErasureIn,
    PurgeOut,
)
from messor.api.routes.domains import name_of
from messor.governance import decisions, erasure, purges, rest
from messor.governance.decisions import Decided
from messor.governance.erasure import Erased
from messor.governance.notices import Notices
from messor.governance.purges import Holdings
from messor.registry import domains as registry
from messor.registry import notes
from messor.store.database import Connection

router = APIRouter(tags=["decisions"], route_class=GatedRoute)

_ERASE = {
    "domain": erasure.erase_domain,
    "url": erasure.erase_url,
    "person": erasure.erase_person,
}


async def _trust(connection: Connection, name: str, *, actor: str, trusted: bool) -> Decided:
    found = await registry.lock(connection, name)
    changed = await notes.trust(connection, found, actor=actor, trusted=trusted)
    return Decided(changed, f"{name} is {'trusted' if trusted else 'not trusted'}.")


async def _rest(connection: Connection, name: str, *, actor: str, year: int) -> Decided:
    found = await registry.lock(connection, name)
    resting_one = await rest.no_funds(connection, found, year, actor=actor)
    return Decided(resting_one, f"{name} is not crawled until {year + 1}.")


async def _revive(connection: Connection, name: str, *, actor: str) -> Decided:
    found = await registry.lock(connection, name)
    return Decided(await rest.revive(connection, found, actor=actor), f"{name} is processed again.")


# Each function takes the remaining fields of its decision.
_ACTS: Mapping[str, Callable[..., Awaitable[Decided]]] = {
    "approve": decisions.approve,
    "reject": decisions.reject,
    "suspend": decisions.suspend,
    "resume": decisions.resume,
    "blacklist": decisions.blacklist,
    "review_again": decisions.review_again,
    "keep": decisions.keep,
    "trust": partial(_trust, trusted=True),
    "untrust": partial(_trust, trusted=False),
    "no_funds": _rest,
    "revive": _revive,
}


async def decide(
    connection: Connection, name: str, given: DecisionIn, actor: str, told: Notices
) -> Decided:
    """Dispatch a decision to its handler."""
    fields = given.model_dump(exclude={"act"})
    if "notify" in fields:
        fields["told"] = told
    return await _ACTS[given.act](connection, name, actor=actor, **fields)


@router.post("/domains/{domain}/decisions")
@needs(Act.DOMAINS_REVIEW, precondition=True)
async def decide_domain(
    domain: DomainName,
    given: DecisionIn,
    connection: TransactionDep,
    principal: PrincipalDep,
    *,
    request: Request,
    response: Response,
) -> Decided:
    """Decide on a domain. With If-Match, fails when the domain has changed meanwhile."""
    name = name_of(domain)
    etags.require(request, await registry.lock(connection, name))
    told = Notices.of(context_of(request).settings)
    decided = await decide(connection, name, given, principal.actor, told)
    response.headers["ETag"] = etags.of_domain(decided.domain)
    return decided


@router.post("/decisions")
@needs(Act.DOMAINS_REVIEW, own_transactions=True)
async def decide_many(
    given: BulkIn, database: DatabaseDep, principal: PrincipalDep, request: Request
) -> BulkOut:
    """Apply one decision to many domains; a failure does not affect the others."""
    told = Notices.of(context_of(request).settings)

    async def act(connection: Connection, name: str) -> Decided:
        return await decide(connection, name_of(name), given.decision, principal.actor, told)

    verdicts = await decisions.decide_many(database, list(dict.fromkeys(given.domains)), act)
    done = sum(verdict.done for verdict in verdicts)
    return BulkOut(
        done=done,
        refused=len(verdicts) - done,
        verdicts=list(verdicts),
    )


@router.get("/domains/{domain}/holdings")
@needs(Act.READ)
async def show_holdings(domain: DomainName, database: DatabaseDep) -> Holdings:
    """Get what a purge would delete."""
    found = await registry.get(database, name_of(domain))
    return await purges.holdings(database, found)


@router.post("/domains/{domain}/purge")
@needs(Act.DATA_ERASE)
async def purge_domain(
    domain: DomainName, connection: TransactionDep, principal: PrincipalDep
) -> PurgeOut:
    """Delete the stored pages and snapshots of a domain that is not approved; the request log is kept."""
    name = name_of(domain)
    kept = await purges.purge(connection, name, actor=principal.actor)
    return PurgeOut(domain=name, purged=kept)


@router.post("/erasures", status_code=201)
@needs(Act.DATA_ERASE)
async def erase(given: ErasureIn, connection: TransactionDep, principal: PrincipalDep) -> Erased:
    """Erase a domain, a page or a person's data permanently."""
    act = _ERASE[given.kind]
    return await act(connection, given.what, actor=principal.actor, reason=given.reason)
