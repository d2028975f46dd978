"""Parsers: versions with figures, pins and trials."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response

from messor.access.roles import Act
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.base import NO_NUL
from messor.api.models.extraction import (
    FieldLossOut,
    LiftedOut,
    LossesOut,
    ParserOut,
    ParsersOut,
    PinIn,
    PinOut,
    PinsOut,
    ShadowIn,
    TrialDecisionIn,
    TrialOut,
)
from messor.api.routes.domains import name_of
from messor.api.routes.tasks import DomainFilter
from messor.errors import UsageError
from messor.extraction import parser_figures, shadow_trials, trial_queries
from messor.extraction.parser_figures import Trial
from messor.extraction.trial_queries import TRIALS, TrialFilter
from messor.parsers import pins, trials
from messor.parsers.page_reading import installed_parsers
from messor.registry import domains
from messor.store.database import Connection
from messor.store.listing import ListPage

router = APIRouter(prefix="/parsers", tags=["parsers"], route_class=GatedRoute)

ParserName = Annotated[str, Path(min_length=1, max_length=100, pattern=NO_NUL)]


@router.get("")
@needs(Act.READ)
async def list_parsers(database: DatabaseDep) -> ParsersOut:
    """List the installed versions in evaluation order, with recent figures."""
    everywhere = {
        pin.parser: pin.version for pin in await pins.listing(database) if pin.domain is None
    }
    made = {(one.parser, one.version): one for one in await parser_figures.yields(database)}
    return ParsersOut(
        items=[
            ParserOut(
                name=one.name,
                version=one.version,
                kinds=one.kinds,
                is_generic=one.is_generic,
                is_candidate=one.is_candidate,
                reads=one.reads,
                standing=yielded.standing if yielded else 0,
                gone=yielded.gone if yielded else 0,
                confidence=yielded.sure if yielded else None,
            )
            for one in parser_figures.versions(installed_parsers(), everywhere)
            for yielded in (made.get((one.name, one.version)),)
        ]
    )


@router.get("/health")
@needs(Act.READ)
async def show_parser_health(
    database: DatabaseDep, *, hours: Annotated[int, Query(ge=1, le=8_760)] = 168
) -> LossesOut:
    """List records lost on existing pages, largest losses first."""
    found = await parser_figures.losses(database, hours=hours)
    return LossesOut(items=[FieldLossOut.model_validate(one) for one in found])


@router.get("/pins")
@needs(Act.READ)
async def list_pins(database: DatabaseDep) -> PinsOut:
    """List pinned versions."""
    return PinsOut(items=[PinOut.model_validate(one) for one in await pins.listing(database)])


@router.post("/pins", status_code=201)
@needs(Act.DOMAINS_CONFIGURE)
async def pin_parser(
    given: PinIn, connection: TransactionDep, principal: PrincipalDep, response: Response
) -> PinOut:
    """Pin a version for all domains or one."""
    installed_parsers().get(given.parser, given.version)
    name = name_of(given.domain) if given.domain is not None else None
    domain_id = await _domain_id(connection, name)
    await pins.pin(
        connection, given.parser, given.version, domain_id=domain_id, actor=principal.actor
    )
    response.headers["Location"] = "/api/v1/parsers/pins"
    found = await pins.listing(connection)
    return PinOut.model_validate(
        next(one for one in found if (one.parser, one.domain) == (given.parser, name))
    )


@router.delete("/pins/{parser}")
@needs(Act.DOMAINS_CONFIGURE)
async def lift_pin(
    parser: ParserName,
    connection: TransactionDep,
    principal: PrincipalDep,
    *,
    domain: DomainFilter = None,
) -> LiftedOut:
    """Remove a pin; the previous pin or the newest version applies again."""
    domain_id = await _domain_id(connection, name_of(domain) if domain else None)
    version = await pins.lift(connection, parser, domain_id=domain_id, actor=principal.actor)
    return LiftedOut(parser=parser, version=version)


@router.get("/trials")
@needs(Act.READ)
async def list_trials(
    database: DatabaseDep, asked: Annotated[ListRequest[Trial, TrialFilter], list_request(TRIALS)]
) -> ListPage[TrialOut]:
    """List trials, filtered and ordered."""
    found = await asked.read(database)
    return ListPage(items=[TrialOut.model_validate(one) for one in found.items], next=found.next)


@router.post("/trials", status_code=201)
@needs(Act.DOMAINS_CONFIGURE)
async def shadow_parser(
    given: ShadowIn, connection: TransactionDep, principal: PrincipalDep, response: Response
) -> TrialOut:
    """Start a shadow trial: the candidate parses new pages alongside the active version."""
    domain_id = await _domain_id(
        connection, name_of(given.domain) if given.domain is not None else None
    )
    trial_id = await shadow_trials.begin(
        connection,
        given.parser,
        given.version,
        domain_id=domain_id,
        most=given.most,
        actor=principal.actor,
    )
    response.headers["Location"] = f"/api/v1/parsers/trials/{trial_id}"
    return TrialOut.model_validate(await trial_queries.get(connection, trial_id))


@router.get("/trials/{trial_id}")
@needs(Act.READ)
async def show_trial(trial_id: UUID, database: DatabaseDep) -> TrialOut:
    """Get a trial with agreement, coverage and validity per field."""
    return TrialOut.model_validate(await trial_queries.get(database, trial_id))


@router.post("/trials/{trial_id}/decision")
@needs(Act.DOMAINS_CONFIGURE)
async def decide_trial(
    trial_id: UUID, given: TrialDecisionIn, connection: TransactionDep, principal: PrincipalDep
) -> TrialOut:
    """Promote or reject a candidate, or roll a promotion back."""
    if given.reason is None and given.decision != "promoted":
        raise UsageError(
            f"A reason is required for the decision {given.decision.replace('_', ' ')}."
        )
    await trials.decide(
        connection, trial_id, given.decision, actor=principal.actor, reason=given.reason
    )
    return TrialOut.model_validate(await trial_queries.get(connection, trial_id))


async def _domain_id(connection: Connection, name: str | None) -> UUID | None:
    return None if name is None else (await domains.get(connection, name)).id
