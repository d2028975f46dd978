"""Candidates: list, details and review decisions."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter

from messor.access.roles import Act
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.discovery import CandidateDecisionIn
from messor.scout import candidate_queries, candidate_review
from messor.scout.candidate_queries import CANDIDATES, CandidateDossier, CandidateFilter
from messor.scout.candidates import Candidate
from messor.store.listing import ListPage

router = APIRouter(prefix="/candidates", tags=["candidates"], route_class=GatedRoute)


@router.get("")
@needs(Act.READ)
async def list_candidates(
    database: DatabaseDep,
    asked: Annotated[ListRequest[Candidate, CandidateFilter], list_request(CANDIDATES)],
) -> ListPage[Candidate]:
    """List candidates, filtered and ordered."""
    return await asked.read(database)


@router.get("/{candidate_id}")
@needs(Act.READ)
async def show_candidate(candidate_id: UUID, database: DatabaseDep) -> CandidateDossier:
    """Get a candidate with the score, weight and explanation of every judge, and its records."""
    return await candidate_queries.dossier(database, candidate_id)


@router.post("/{candidate_id}/decisions")
@needs(Act.DOMAINS_REVIEW)
async def decide_candidate(
    candidate_id: UUID,
    given: CandidateDecisionIn,
    connection: TransactionDep,
    principal: PrincipalDep,
) -> Candidate:
    """Assign, approve or reject a candidate."""
    return await candidate_review.decide(
        connection,
        candidate_id,
        given.act,
        actor=principal.actor,
        reason=given.reason,
        seen=given.seen,
    )
