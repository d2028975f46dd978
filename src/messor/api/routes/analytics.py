"""Analytics: ready questions, read-only SQL over the tables, and the job that fills them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query

from messor.access.roles import Act
from messor.analytics import jobs
from messor.analytics.answers import MAX_DAYS, Answered, rows_of
from messor.analytics.queried import query
from messor.analytics.questions import QUESTIONS, AnswerScope
from messor.api.context import AnalyticsDep, DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.models.analytics import (
    AnalyticsAnswerOut,
    AnalyticsJobOut,
    AnalyticsOut,
    AnalyticsTableOut,
    ChartOut,
    QueryIn,
    QueryOut,
    QuestionOut,
)
from messor.api.models.base import NO_NUL

router = APIRouter(prefix="/analytics", tags=["analytics"], route_class=GatedRoute)

Words = Annotated[str | None, Query(min_length=1, max_length=300, pattern=NO_NUL)]


@router.get("")
@needs(Act.READ)
async def show_analytics(analytics: AnalyticsDep) -> AnalyticsOut:
    """Get the store of analytics with its tables, and the ready questions."""
    status = await analytics.status()
    return AnalyticsOut(
        store=status.store,
        place=status.place,
        is_filled=status.is_filled,
        read_until=status.read_until,
        tables=[AnalyticsTableOut.model_validate(each) for each in status.tables],
        questions=[QuestionOut.model_validate(each) for each in QUESTIONS.values()],
    )


@router.post("/sync", status_code=202)
@needs(Act.SCHEDULE_CONTROL)
async def sync_analytics(connection: TransactionDep) -> AnalyticsJobOut:
    """Start the job that brings the tables up to date; once an hour."""
    return AnalyticsJobOut(job_id=await jobs.ask(connection))


@router.post("/query")
@needs(Act.DATA_EXPORT)
async def query_analytics(
    given: QueryIn, analytics: AnalyticsDep, database: DatabaseDep, principal: PrincipalDep
) -> QueryOut:
    """Answer one SELECT over the tables, within limits on time, memory and rows."""
    found = await query(database, analytics, given.sql, actor=principal.actor, rows=given.rows)
    return QueryOut(
        columns=found.columns, rows=[list(row) for row in found.rows], is_cut=found.is_cut
    )


@router.get("/{question}")
@needs(Act.READ, needs_setup=True)
async def ask_analytics(
    question: str,
    analytics: AnalyticsDep,
    *,
    days: Annotated[int, Query(ge=1, le=MAX_DAYS, description="How far back")] = 90,
    domain: Words = None,
    category: Words = None,
) -> AnalyticsAnswerOut:
    """Answer a ready question, with how to draw it."""
    scope = AnswerScope(datetime.now(UTC), days, domain, category)
    return _shown(await analytics.ask(question, scope))


def _shown(found: Answered) -> AnalyticsAnswerOut:
    chart = found.question.chart
    return AnalyticsAnswerOut(
        question=found.question.name,
        store=found.store,
        until=found.scope.until.astimezone(UTC),
        days=found.scope.days,
        chart=ChartOut(
            form=chart.form, label=list(chart.label), value=chart.value, over=chart.over
        ),
        items=rows_of(found.answer),
    )
