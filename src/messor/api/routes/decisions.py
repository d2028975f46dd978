"""Decisions about domains, one or many at once, and what is removed because of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from fastapi import APIRouter, Request, Response

from messor.access.roles import Act
from messor.api import etags
from messor.api.gate import GatedRoute, needs
from messor.api.house import Source, Unit, Who
from messor.api.models.base import DomainName
from messor.api.models.domains import (
    BulkIn,
    BulkOut,
    DecidedOut,
    DecisionIn,
    ErasedOut,
    ErasureIn,
    HoldingsOut,
    PurgeOut,
    VerdictOut,
)
from messor.api.routes.domains import name_of
from messor.governance import decisions, erasure, purges, rest
from messor.governance.decisions import Decided
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
    return Decided(resting_one, f"{name} rests until {year + 1}.")


async def _revive(connection: Connection, name: str, *, actor: str) -> Decided:
    found = await registry.lock(connection, name)
    return Decided(await rest.revive(connection, found, actor=actor), f"{name} is worked on again.")


# The other fields of a decision are what these take.
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


async def decide(connection: Connection, name: str, given: DecisionIn, actor: str) -> Decided:
    """Hand a decision to whoever carries it out."""
    act = _ACTS[given.act]
    return await act(connection, name, actor=actor, **given.model_dump(exclude={"act"}))


@router.post("/domains/{domain}/decisions")
@needs(Act.DOMAINS_REVIEW, precondition=True)
async def decide_domain(
    domain: DomainName,
    given: DecisionIn,
    unit: Unit,
    who: Who,
    *,
    request: Request,
    response: Response,
) -> DecidedOut:
    """Decide on a domain. With If-Match it is refused when somebody else decided meanwhile."""
    name = name_of(domain)
    etags.require(request, await registry.lock(unit, name))
    decided = await decide(unit, name, given, who.actor)
    response.headers["ETag"] = etags.of_domain(decided.domain)
    return DecidedOut.model_validate(decided)


@router.post("/decisions")
@needs(Act.DOMAINS_REVIEW, own_transactions=True)
async def decide_many(given: BulkIn, source: Source, who: Who) -> BulkOut:
    """One decision about many domains, each for itself: one refusal stops no other."""

    async def act(connection: Connection, name: str) -> Decided:
        return await decide(connection, name_of(name), given.decision, who.actor)

    verdicts = await decisions.decide_many(source, list(dict.fromkeys(given.domains)), act)
    done = sum(verdict.done for verdict in verdicts)
    return BulkOut(
        done=done,
        refused=len(verdicts) - done,
        verdicts=[VerdictOut.model_validate(verdict) for verdict in verdicts],
    )


@router.get("/domains/{domain}/holdings")
@needs(Act.READ)
async def show_holdings(domain: DomainName, source: Source) -> HoldingsOut:
    """How much a purge would remove."""
    found = await registry.get(source, name_of(domain))
    return HoldingsOut.model_validate(await purges.holdings(source, found))


@router.post("/domains/{domain}/purge")
@needs(Act.DATA_ERASE)
async def purge_domain(domain: DomainName, unit: Unit, who: Who) -> PurgeOut:
    """Forget all that was kept of a domain that is not approved; the log of requests stays."""
    name = name_of(domain)
    kept = await purges.purge(unit, name, actor=who.actor)
    return PurgeOut(domain=name, purged=HoldingsOut.model_validate(kept))


@router.post("/erasures", status_code=201)
@needs(Act.DATA_ERASE)
async def erase(given: ErasureIn, unit: Unit, who: Who) -> ErasedOut:
    """Remove a domain, a page or a person's data, so that it stays removed."""
    act = _ERASE[given.kind]
    done = await act(unit, given.what, actor=who.actor, reason=given.reason)
    return ErasedOut.model_validate(done)
