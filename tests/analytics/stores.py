"""The stores under test, and PostgreSQL's own answers: the questions over its tables as they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect import get_client

from messor.analytics.clickhouse import ClickHouse
from messor.analytics.lake import Lake
from messor.analytics.questions import QUESTIONS, AnswerScope
from messor.analytics.store import Limits, Store
from messor.analytics.tables import TABLES
from messor.store.database import Database

STORES = ("duckdb", "clickhouse")


@contextmanager
def open_store(name: str, folder: Path) -> Iterator[Store]:
    """A store of a test's own; ClickHouse runs in this process."""
    if name == "duckdb":
        yield Lake(folder / "lake")
        return
    database = f"t{abs(hash(str(folder)))}"
    client = get_client(interface="chdb")
    store = ClickHouse(client, database)
    try:
        yield store
    finally:
        client.command(f"DROP DATABASE IF EXISTS {database} SYNC")


class PlainDialect:
    """PostgreSQL's."""

    def median(self, value: str) -> str:
        return self.percentile(value, 0.5)

    def percentile(self, value: str, part: float) -> str:
        return f"percentile_cont({part}) WITHIN GROUP (ORDER BY {value})"

    def seconds(self, moment: str) -> str:
        return f"extract(epoch FROM {moment})::float8"

    def moment(self, moment: datetime) -> str:
        return f"timestamptz '{moment.astimezone(UTC).isoformat()}'"

    def text(self, value: str) -> str:
        return "'" + value.replace("'", "''") + "'"


async def plain_answer(
    database: Database, question: str, scope: AnswerScope
) -> list[tuple[Any, ...]]:
    """A question answered by PostgreSQL, each table an expression over its own ones."""
    tables = ", ".join(f"{name} AS ({_plain(name)})" for name in TABLES)
    sql = QUESTIONS[question].sql(PlainDialect(), scope).strip()
    sql = f"WITH {tables} SELECT * FROM ({sql}) answer"
    return [tuple(row) for row in await database.fetch(sql)]


def _plain(name: str) -> str:
    table = TABLES[name]
    source = table.sql.replace("WHERE d.id = ANY ($1::uuid[]) ", "")
    chosen = ", ".join(
        f"({each.sql}){'::text' if each.type == 'text' else ''} AS {each.name}"
        for each in table.columns
    )
    only = " WHERE EXISTS (SELECT FROM messor.page_changes x WHERE x.page_id = p.id)"
    return f"SELECT {chosen} {source}{only if name == 'pages' else ''}"


def answer(store: Store, question: str, scope: AnswerScope) -> list[tuple[Any, ...]]:
    return store.query(QUESTIONS[question].sql(store.dialect, scope), Limits()).rows


def comparable(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows in one order and with one kind of number and time."""
    plain = [tuple(map(_value, row)) for row in rows]
    return sorted(plain, key=lambda row: (repr([v for v in row if isinstance(v, str)]), repr(row)))


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        value = value if value.tzinfo else value.replace(tzinfo=UTC)
        return value.astimezone(UTC).isoformat()
    if isinstance(value, (float, Decimal)):
        return float(value)
    return value


def require_same(mine: list[tuple[Any, ...]], theirs: list[tuple[Any, ...]], what: str) -> None:
    """Equal but for the last digits of fractions: times as seconds are rounded."""
    assert len(mine) == len(theirs), what
    for row, other in zip(mine, theirs, strict=True):
        for value, expected in zip(row, other, strict=True):
            if isinstance(expected, float):
                expected = pytest.approx(expected, rel=1e-9, abs=1e-6)  # noqa: PLW2901
            assert value == expected, (what, row, other)


def whole(store: Store, table: str) -> list[tuple[Any, ...]]:
    names = ", ".join(TABLES[table].names)
    return comparable(store.query(f"SELECT {names} FROM {table}", Limits(rows=100_000)).rows)


async def plain_whole(database: Database, table: str) -> list[tuple[Any, ...]]:
    return comparable([tuple(row) for row in await database.fetch(_plain(table))])
