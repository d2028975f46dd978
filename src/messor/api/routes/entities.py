"""Entities: things merged over pages and sites, proposals, and people's decisions."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter

from messor.access.roles import Act
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.base import BigId, In, text
from messor.entities import decisions, queries
from messor.entities.queries import (
    ENTITIES,
    PROPOSALS,
    Entity,
    EntityFilter,
    EntityProposal,
    FullEntity,
    ProposalFilter,
)
from messor.store.listing import ListPage

router = APIRouter(prefix="/entities", tags=["entities"], route_class=GatedRoute)

Reason = Annotated[str, text(1_000, 1)]


class VerdictIn(In):
    """A person's decision about a proposal."""

    verdict: Literal["same", "different"]
    reason: Reason | None = None


class MergeIn(In):
    """The entity to take in."""

    with_id: BigId
    reason: Reason | None = None


class SplitIn(In):
    """The statement that is about something else."""

    statement_id: BigId
    reason: Reason | None = None


@router.get("")
@needs(Act.READ)
async def list_entities(
    database: DatabaseDep,
    asked: Annotated[ListRequest[Entity, EntityFilter], list_request(ENTITIES)],
) -> ListPage[Entity]:
    """List entities; a page may be short although more follow."""
    return await asked.read(database)


@router.get("/proposals")
@needs(Act.READ)
async def list_proposals(
    database: DatabaseDep,
    asked: Annotated[ListRequest[EntityProposal, ProposalFilter], list_request(PROPOSALS)],
) -> ListPage[EntityProposal]:
    """List pairs that may be one entity, surest first."""
    return await asked.read(database)


@router.post("/proposals/{proposal_id}")
@needs(Act.DOMAINS_REVIEW)
async def decide_proposal(
    proposal_id: BigId, given: VerdictIn, connection: TransactionDep, principal: PrincipalDep
) -> FullEntity:
    """Decide a proposal. The decision holds when the pages are read again; similar matches learn from it."""
    return await decisions.decide(
        connection, proposal_id, given.verdict, actor=principal.actor, reason=given.reason
    )


@router.get("/{entity_id}")
@needs(Act.READ)
async def show_entity(entity_id: BigId, database: DatabaseDep) -> FullEntity:
    """One entity: its fields, what each site states, and why they are one."""
    return await queries.entity(database, entity_id)


@router.post("/{entity_id}/merge")
@needs(Act.DOMAINS_REVIEW)
async def merge_entities(
    entity_id: BigId, given: MergeIn, connection: TransactionDep, principal: PrincipalDep
) -> FullEntity:
    """Make two entities one; the other's id leads to it from then on."""
    return await decisions.merge(
        connection, entity_id, given.with_id, actor=principal.actor, reason=given.reason
    )


@router.post("/{entity_id}/split")
@needs(Act.DOMAINS_REVIEW)
async def split_entity(
    entity_id: BigId, given: SplitIn, connection: TransactionDep, principal: PrincipalDep
) -> FullEntity:
    """Take a statement out of an entity; returns the entity that it is now."""
    return await decisions.split(
        connection, entity_id, given.statement_id, actor=principal.actor, reason=given.reason
    )
