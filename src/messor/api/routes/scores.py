"""Scores of a vertical: list, scoring, simulation, history and calibration."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from messor.access.roles import Act
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep
from messor.api.cursors import CursorParam, Listing, Pager, PageSize, PositiveInt
from messor.api.gate import GatedRoute, needs
from messor.api.models.base import NO_NUL
from messor.api.models.discovery import VerticalName
from messor.api.models.scores import (
    CalibratedOut,
    GivenScoreOut,
    Level,
    ScoreHistoryOut,
    ScoreOut,
    ScoringIn,
    ScoringOut,
    SimulatedOut,
    SimulationOut,
    Subject,
    WeightsIn,
)
from messor.insight import calibration, reweigh, score_queries, scoring
from messor.insight.score_queries import PastScore, ScoreRow
from messor.verticals import verticals

router = APIRouter(prefix="/verticals/{vertical}", tags=["scores"], route_class=GatedRoute)

MAX_SIMULATED = 1_000
Part = Annotated[str | None, Query(min_length=1, max_length=253, pattern=NO_NUL)]


@router.get("/scores")
@needs(Act.READ)
async def list_scores(
    vertical: VerticalName,
    database: DatabaseDep,
    *,
    subject: Subject = "domain",
    level: Level | None = None,
    q: Part = None,
    cursor: CursorParam = None,
    limit: PageSize = 50,
) -> Listing[ScoreOut]:
    """List the latest scores with their parts, highest first."""
    applied = await verticals.get(database, vertical)
    pager = Pager("scores", vertical, subject, level, q)
    rows = await score_queries.newest(
        database,
        applied,
        subject=subject,
        level=level,
        containing=q.lower() if q else None,
        after=pager.read(cursor, tuple[float, PositiveInt]),
        limit=limit + 1,
    )
    return Listing(
        items=[_score(row) for row in rows[:limit]],
        next=pager.next(rows, limit, lambda row: (row.score, row.id)),
    )


@router.post("/scores")
@needs(Act.DOMAINS_CONFIGURE)
async def score_vertical(
    vertical: VerticalName, given: ScoringIn, connection: TransactionDep, principal: PrincipalDep
) -> ScoringOut:
    """Score a vertical now and assign track levels to its domains."""
    weights = {str(part): weight for part, weight in given.weights.items()}
    applied, done = await reweigh.apply(
        connection, vertical, weights, actor=principal.actor, seen=given.seen
    )
    return ScoringOut(version=applied.vertical.version, **asdict(done))


@router.post("/scores/simulate")
@needs(Act.READ)
async def simulate_scores(
    vertical: VerticalName, given: WeightsIn, connection: TransactionDep
) -> SimulationOut:
    """Simulate other weights; nothing is saved."""
    applied = await verticals.get(connection, vertical)
    weights = {str(part): weight for part, weight in given.weights.items()}
    found = await scoring.simulate(connection, applied, weights)
    changed = found.changed
    return SimulationOut(
        rows=[SimulatedOut.model_validate(row) for row in changed[:MAX_SIMULATED]],
        domains=len(found.rows),
        changed=len(changed),
        looks_per_day_now=found.looks_per_day_now,
        looks_per_day_then=found.looks_per_day_then,
    )


@router.get("/scores/{subject_id}")
@needs(Act.READ)
async def show_scores(
    vertical: VerticalName, subject_id: UUID, database: DatabaseDep
) -> ScoreHistoryOut:
    """List the scores of a domain or organisation over time, with their parts."""
    applied = await verticals.get(database, vertical)
    given = await score_queries.over_time(database, applied, subject_id)
    last = given[-1]
    return ScoreHistoryOut(
        subject=last.subject,  # type: ignore[arg-type]  # the database allows no other
        name=last.name,
        scores=[_given(one) for one in given],
    )


@router.get("/calibration")
@needs(Act.READ)
async def calibrate(vertical: VerticalName, database: DatabaseDep) -> Listing[CalibratedOut]:
    """Compare judges and scores with reviewer decisions."""
    applied = await verticals.get(database, vertical)
    rows = await calibration.calibrate(database, applied)
    return Listing(items=[CalibratedOut.model_validate(one) for one in rows], next=None)


def _score(row: ScoreRow) -> ScoreOut:
    facts = asdict(row)
    return ScoreOut(**{name: facts[name] for name in ScoreOut.model_fields})


def _given(one: PastScore) -> GivenScoreOut:
    facts = asdict(one)
    return GivenScoreOut(**{name: facts[name] for name in GivenScoreOut.model_fields})
