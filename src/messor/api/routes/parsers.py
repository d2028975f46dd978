"""Parsers: versions and how they fare, pins, and the trials that people decide on."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response

from messor.access.roles import Act
from messor.api.gate import GatedRoute, needs
from messor.api.house import Source, Unit, Who
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
    TrialsOut,
)
from messor.api.routes.domains import name_of
from messor.api.routes.tasks import DomainFilter
from messor.errors import UsageError
from messor.extraction import parser_figures, shadow_trials
from messor.parsers import pins, trials
from messor.parsers.page_reading import installed_parsers
from messor.registry import domains
from messor.store.database import Connection

router = APIRouter(prefix="/parsers", tags=["parsers"], route_class=GatedRoute)

ParserName = Annotated[str, Path(min_length=1, max_length=100, pattern=NO_NUL)]


@router.get("")
@needs(Act.READ)
async def list_parsers(source: Source) -> ParsersOut:
    """The versions at hand, in the order in which they are asked, and what they made lately."""
    everywhere = {
        pin.parser: pin.version for pin in await pins.listing(source) if pin.domain is None
    }
    made = {(one.parser, one.version): one for one in await parser_figures.yields(source)}
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
    source: Source, *, hours: Annotated[int, Query(ge=1, le=8_760)] = 168
) -> LossesOut:
    """What parsers lost on pages that are still there, the greatest losses first."""
    found = await parser_figures.losses(source, hours=hours)
    return LossesOut(items=[FieldLossOut.model_validate(one) for one in found])


@router.get("/pins")
@needs(Act.READ)
async def list_pins(source: Source) -> PinsOut:
    """Versions that read in place of the newest."""
    return PinsOut(items=[PinOut.model_validate(one) for one in await pins.listing(source)])


@router.post("/pins", status_code=201)
@needs(Act.DOMAINS_CONFIGURE)
async def pin_parser(given: PinIn, unit: Unit, who: Who, response: Response) -> PinOut:
    """Have a version read from now on, everywhere or for one domain."""
    installed_parsers().get(given.parser, given.version)
    name = name_of(given.domain) if given.domain is not None else None
    domain_id = await _domain_id(unit, name)
    await pins.pin(unit, given.parser, given.version, domain_id=domain_id, actor=who.actor)
    response.headers["Location"] = "/api/v1/parsers/pins"
    found = await pins.listing(unit)
    return PinOut.model_validate(
        next(one for one in found if (one.parser, one.domain) == (given.parser, name))
    )


@router.delete("/pins/{parser}")
@needs(Act.DOMAINS_CONFIGURE)
async def lift_pin(
    parser: ParserName, unit: Unit, who: Who, *, domain: DomainFilter = None
) -> LiftedOut:
    """Go back to the version that was pinned before, or to the newest."""
    domain_id = await _domain_id(unit, name_of(domain) if domain else None)
    version = await pins.lift(unit, parser, domain_id=domain_id, actor=who.actor)
    return LiftedOut(parser=parser, version=version)


@router.get("/trials")
@needs(Act.READ)
async def list_trials(
    source: Source, *, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> TrialsOut:
    """Candidates that were compared, or shadow what reads, the newest first."""
    found = await parser_figures.trials(source, limit)
    return TrialsOut(items=[TrialOut.model_validate(one) for one in found])


@router.post("/trials", status_code=201)
@needs(Act.DOMAINS_CONFIGURE)
async def shadow_parser(given: ShadowIn, unit: Unit, who: Who, response: Response) -> TrialOut:
    """Have a candidate read pages as they come in, beside what reads now, and be compared."""
    domain_id = await _domain_id(unit, name_of(given.domain) if given.domain is not None else None)
    trial_id = await shadow_trials.begin(
        unit, given.parser, given.version, domain_id=domain_id, most=given.most, actor=who.actor
    )
    response.headers["Location"] = f"/api/v1/parsers/trials/{trial_id}"
    return TrialOut.model_validate(await parser_figures.trial(unit, trial_id))


@router.get("/trials/{trial_id}")
@needs(Act.READ)
async def show_trial(trial_id: UUID, source: Source) -> TrialOut:
    """One trial, field by field: agreement, coverage, validity."""
    return TrialOut.model_validate(await parser_figures.trial(source, trial_id))


@router.post("/trials/{trial_id}/decision")
@needs(Act.DOMAINS_CONFIGURE)
async def decide_trial(trial_id: UUID, given: TrialDecisionIn, unit: Unit, who: Who) -> TrialOut:
    """Promote or reject a candidate, or roll a promotion back."""
    if given.reason is None and given.decision != "promoted":
        raise UsageError(f"Say why: to have it {given.decision.replace('_', ' ')} needs a reason.")
    await trials.decide(unit, trial_id, given.decision, actor=who.actor, reason=given.reason)
    return TrialOut.model_validate(await parser_figures.trial(unit, trial_id))


async def _domain_id(unit: Connection, name: str | None) -> UUID | None:
    return None if name is None else (await domains.get(unit, name)).id
