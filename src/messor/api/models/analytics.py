"""Analytics in the API: the store, ready questions and their answers, and queries."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from messor.analytics.answers import MAX_SQL
from messor.api.models.base import NO_NUL, In, Out


class AnalyticsTableOut(Out):
    name: str
    rows: int
    bytes: int


class QuestionOut(Out):
    name: str
    title: str
    about: str
    takes: list[str]


class AnalyticsOut(Out):
    store: str
    place: str
    is_filled: bool
    read_until: datetime | None
    tables: list[AnalyticsTableOut]
    questions: list[QuestionOut]


class ChartOut(Out):
    form: Literal["bars", "lines"]
    label: list[str]
    value: str
    over: str | None


class AnalyticsAnswerOut(Out):
    question: str
    store: str
    until: datetime
    days: int
    chart: ChartOut
    items: list[dict[str, Any]]


class QueryIn(In):
    sql: Annotated[str, Field(min_length=1, max_length=MAX_SQL, pattern=NO_NUL)]
    rows: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


class QueryOut(Out):
    columns: list[str]
    rows: list[list[Any]]
    is_cut: bool


class AnalyticsJobOut(Out):
    job_id: UUID | None
