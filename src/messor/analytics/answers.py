"""Answers: ready questions and given SQL put to the configured store, a few at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from messor.analytics.questions import AnswerScope, ReadyQuestion, question_of
from messor.analytics.store import Limits, SqlAnswer, Store, TableSize
from messor.errors import ConflictError, UsageError
from messor.settings import Settings

Found = TypeVar("Found")

AT_A_TIME = 2  # queries of a process
MAX_SQL = 20_000  # characters
MAX_DAYS = 3_660
NOT_FILLED = "The tables of analytics are empty; to fill them: messor analytics sync"


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer to a ready question."""

    question: ReadyQuestion
    scope: AnswerScope
    answer: SqlAnswer
    store: str


@dataclass(frozen=True, slots=True)
class Status:
    """The store, its tables, and how far it is."""

    store: str
    place: str
    is_filled: bool
    read_until: datetime | None  # of the logs
    tables: list[TableSize]


class Analytics:
    """The configured store, as the interfaces use it."""

    def __init__(self, open_store: Callable[[], Store], limits: Limits, place: str) -> None:
        self._open = open_store
        self._limits = limits
        self._place = place
        self._turns = asyncio.Semaphore(AT_A_TIME)

    @classmethod
    def of(cls, settings: Settings) -> Analytics:
        limits = Limits(settings.query_seconds, settings.query_rows, settings.query_memory_mb)
        return cls(lambda: store_of(settings), limits, place_of(settings))

    async def ask(self, name: str, scope: AnswerScope) -> Answered:
        """SqlAnswer a ready question."""
        question = question_of(name)
        _require_sound(question, scope)

        def answer(store: Store) -> SqlAnswer:
            _require_filled(store)
            limits = replace(self._limits, rows=max(self._limits.rows, 10_000))
            return store.query(question.sql(store.dialect, scope), limits)

        store, found = await self._with_store(answer)
        return Answered(question, scope, found, store)

    async def query(self, sql: str, *, rows: int | None = None) -> SqlAnswer:
        """SqlAnswer one SELECT over the tables."""
        if len(sql) > MAX_SQL or "\0" in sql:
            raise UsageError(f"SQL has at most {MAX_SQL:,} characters, and no NUL.")
        limits = self._limits
        if rows is not None:
            limits = replace(limits, rows=min(rows, limits.rows))

        def answer(store: Store) -> SqlAnswer:
            _require_filled(store)
            return store.query(sql, limits)

        return (await self._with_store(answer))[1]

    async def status(self) -> Status:
        """The store and its tables."""

        def look(store: Store) -> Status:
            state = store.state()
            marks = [datetime.fromisoformat(mark.until) for mark in state.logs.values()]
            until = min(marks) if marks else None
            return Status(store.name, self._place, state.is_filled, until, store.sizes())

        return (await self._with_store(look))[1]

    async def _with_store(self, act: Callable[[Store], Found]) -> tuple[str, Found]:
        def work() -> tuple[str, Found]:
            with self._open() as store:
                return store.name, act(store)

        async with self._turns:
            return await asyncio.to_thread(work)


def store_of(settings: Settings) -> Store:
    """The store that the settings name."""
    if settings.clickhouse_url is not None:
        from messor.analytics.clickhouse import ClickHouse  # noqa: PLC0415 - an optional package

        return ClickHouse.at(settings.clickhouse_url.get_secret_value())
    from messor.analytics.lake import Lake  # noqa: PLC0415 - DuckDB takes long to load

    return Lake(folder_of(settings))


def folder_of(settings: Settings) -> Path:
    return settings.analytics_dir or settings.data_dir / "analytics"


def place_of(settings: Settings) -> str:
    """Where the tables are, without a password."""
    if settings.clickhouse_url is None:
        return str(folder_of(settings))
    return settings.clickhouse_url.get_secret_value().rpartition("@")[2]


def _require_filled(store: Store) -> None:
    if not store.state().is_filled:
        raise ConflictError(NOT_FILLED)


def _require_sound(question: ReadyQuestion, scope: AnswerScope) -> None:
    if not 1 <= scope.days <= MAX_DAYS:
        raise UsageError(f"Days are 1 to {MAX_DAYS:,}.")
    for name in ("domain", "category"):
        given = getattr(scope, name)
        if given is None:
            continue
        if name not in question.takes:
            raise UsageError(f"{question.name} cannot be limited by {name}.")
        if "\0" in given:
            raise UsageError(f"A {name} has no NUL.")


def labels_of(question: ReadyQuestion, row: dict[str, Any]) -> str:
    """What a row is about, for charts."""
    return " · ".join(str(row[name]) for name in question.chart.label if row[name] is not None)


def series_of(answered: Answered, most: int) -> list[tuple[str, list[dict[str, Any]]]]:
    """The rows by label, the largest groups first."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows_of(answered.answer):
        found.setdefault(labels_of(answered.question, row), []).append(row)
    return sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))[:most]


def rows_of(answer: SqlAnswer) -> list[dict[str, Any]]:
    """The rows by column name."""
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
