"""Scores of a vertical: list, scoring, simulation, history and calibration."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter

from messor.access.roles import Act
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.discovery import VerticalName
from messor.api.models.scores import (
    ScoreHistoryOut,
    ScoringIn,
    ScoringOut,
    SeenIn,
    SimulationOut,
    WeightsIn,
)
from messor.insight import calibration, judge_weights, reweigh, score_queries, scoring
from messor.insight.calibration import Calibrated
from messor.insight.judge_weights import SuggestedWeights
from messor.insight.score_queries import SCORES, ListedScore, ScoreFilter
from messor.store.listing import ListPage
from messor.verticals import verticals

router = APIRouter(tags=["scores"], route_class=GatedRoute)

MAX_SIMULATED = 1_000
OF_VERTICAL = "/verticals/{vertical}"


@router.get("/scores")
@needs(Act.READ)
async def list_scores(
    database: DatabaseDep,
    asked: Annotated[ListRequest[ListedScore, ScoreFilter], list_request(SCORES)],
) -> ListPage[ListedScore]:
    """List the scores of the last scoring with their parts, filtered and ordered."""
    return await asked.read(database)


@router.post(f"{OF_VERTICAL}/scores")
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


@router.post(f"{OF_VERTICAL}/scores/simulate")
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
        rows=changed[:MAX_SIMULATED],
        domains=len(found.rows),
        changed=len(changed),
        looks_per_day_now=found.looks_per_day_now,
        looks_per_day_then=found.looks_per_day_then,
    )


@router.get(f"{OF_VERTICAL}/scores/{{subject_id}}")
@needs(Act.READ)
async def show_scores(
    vertical: VerticalName, subject_id: UUID, database: DatabaseDep
) -> ScoreHistoryOut:
    """List the scores of a domain or organisation over time, with their parts."""
    applied = await verticals.get(database, vertical)
    given = await score_queries.over_time(database, applied, subject_id)
    last = given[-1]
    return ScoreHistoryOut(subject=last.subject, name=last.name, scores=given)


@router.get(f"{OF_VERTICAL}/calibration")
@needs(Act.READ)
async def calibrate(vertical: VerticalName, database: DatabaseDep) -> ListPage[Calibrated]:
    """Compare judges and scores with reviewer decisions."""
    applied = await verticals.get(database, vertical)
    return ListPage(items=await calibration.calibrate(database, applied), next=None)


@router.get(f"{OF_VERTICAL}/judges/weights")
@needs(Act.READ)
async def suggest_judge_weights(vertical: VerticalName, database: DatabaseDep) -> SuggestedWeights:
    """Suggest judge weights from reviewer decisions, measured on decisions held out."""
    return await judge_weights.suggest(database, await verticals.get(database, vertical))


@router.post(f"{OF_VERTICAL}/judges/weights")
@needs(Act.DOMAINS_CONFIGURE)
async def apply_judge_weights(
    vertical: VerticalName, given: SeenIn, connection: TransactionDep, principal: PrincipalDep
) -> SuggestedWeights:
    """Publish the suggested weights as the vertical's next version, if they did better."""
    _, found = await judge_weights.apply(
        connection, vertical, actor=principal.actor, seen=given.seen
    )
    return found
