"""Candidates: list, details and review decisions."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query

from messor.access.roles import Act
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep
from messor.api.cursors import CursorParam, Listing, Pager, PageSize
from messor.api.gate import GatedRoute, needs
from messor.api.models.base import NO_NUL
from messor.api.models.discovery import (
    CandidateDecisionIn,
    CandidateOut,
    CandidateStatus,
    OpinionOut,
    StatedRecordOut,
    WholeCandidateOut,
)
from messor.api.routes.discovery import VerticalFilter
from messor.scout import candidate_queries, candidate_review
from messor.scout.candidates import TRANSITIONS, Candidate

router = APIRouter(prefix="/candidates", tags=["candidates"], route_class=GatedRoute)

Part = Annotated[str | None, Query(min_length=1, max_length=200, pattern=NO_NUL)]


@router.get("")
@needs(Act.READ)
async def list_candidates(
    database: DatabaseDep,
    *,
    vertical: VerticalFilter = None,
    status: CandidateStatus | None = None,
    session_id: UUID | None = None,
    q: Part = None,
    cursor: CursorParam = None,
    limit: PageSize = 50,
) -> Listing[CandidateOut]:
    """List candidates, highest confidence first."""
    pager = Pager("candidates", vertical, status, session_id, q)
    rows = await candidate_queries.queue(
        database,
        [status] if status else list(TRANSITIONS),
        vertical=vertical,
        session_id=session_id,
        containing=q.lower() if q else None,
        after=pager.read(cursor, tuple[float, UUID]),
        limit=limit + 1,
    )
    return Listing(
        items=[CandidateOut.model_validate(_facts(row)) for row in rows[:limit]],
        next=pager.next(rows, limit, candidate_queries.place_of),
    )


@router.get("/{candidate_id}")
@needs(Act.READ)
async def show_candidate(candidate_id: UUID, database: DatabaseDep) -> WholeCandidateOut:
    """Get a candidate with the score, weight and explanation of every judge, and its records."""
    found = await candidate_queries.dossier(database, candidate_id)
    return WholeCandidateOut(
        **_facts(found.candidate),
        opinions=[OpinionOut.model_validate(one) for one in found.opinions],
        domain_status=found.about.status,
        snapshot_id=found.about.snapshot_id,
        records=[StatedRecordOut.model_validate(one) for one in found.records],
    )


@router.post("/{candidate_id}/decisions")
@needs(Act.DOMAINS_REVIEW)
async def decide_candidate(
    candidate_id: UUID,
    given: CandidateDecisionIn,
    connection: TransactionDep,
    principal: PrincipalDep,
) -> CandidateOut:
    """Assign, approve or reject a candidate."""
    found = await candidate_review.decide(
        connection,
        candidate_id,
        given.act,
        actor=principal.actor,
        reason=given.reason,
        seen=given.seen,
    )
    return CandidateOut.model_validate(_facts(found))


def _facts(candidate: Candidate) -> dict[str, Any]:
    return {name: getattr(candidate, name) for name in CandidateOut.model_fields}
