"""Array types: those of PostgreSQL itself are as the server has them, and are not looked up."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import messor
from messor.store.array_types import ELEMENTS
from messor.store.connection import connect
from messor.store.database import Database

ON_THE_SERVER = """
SELECT t.oid::int AS oid, e.typname::text AS name, e.oid::int AS element
  FROM pg_type t JOIN pg_type e ON e.oid = t.typelem
 WHERE t.oid = ANY ($1::oid[]) AND e.typdelim = ',' AND t.typcategory = 'A'
"""
VALUES: dict[str, list[Any]] = {
    "bool": [True, None],
    "bytea": [b"\x00a"],
    "int2": [1, -1],
    "int4": [2**31 - 1],
    "int8": [2**63 - 1, None],
    "float4": [0.5],
    "float8": [0.1],
    "jsonb": ['{"a": 1}'],
    "timestamptz": [datetime(2026, 1, 2, tzinfo=UTC)],
    "uuid": [UUID(int=7)],
}
# What would outlast a transaction on a connection that the next one uses too.
LASTING = re.compile(
    r"[\"';]\s*SET (?!LOCAL\b|TRANSACTION\b|NULL\b)\w|pg_(?:try_)?advisory_lock\b"
    r"|set_config\([^)]*false\)|\bWITH HOLD\b|[\"']LISTEN\b"
)
# These open connections of their own, to PostgreSQL or to DuckDB.
WITH_THEIR_OWN = {"store/autogenerate.py", "exports/duck.py", "analytics/lake.py",
                  "analytics/lake_query.py", "store/migrations/env.py"}  # fmt: skip


async def test_they_are_as_the_server_has_them(database: Database) -> None:
    rows = await database.fetch(ON_THE_SERVER, list(ELEMENTS))
    assert {row["oid"]: (row["name"], row["element"]) for row in rows} == ELEMENTS


@pytest.mark.parametrize("cache", [0, 100])
async def test_they_go_and_come_without_being_looked_up(dsn: str, cache: int) -> None:
    raw = await connect(dsn, statement_cache_size=cache)
    asked: list[str] = []
    raw.add_query_logger(lambda logged: asked.append(logged.query))
    for name, values in VALUES.items():
        assert await raw.fetchval(f"SELECT $1::{name}[]", values) == values
        assert await raw.fetchval(f"SELECT $1::{name}[]", values) == values
    await raw.close()
    assert len(asked) == 2 * len(VALUES)


async def test_types_of_a_database_are_looked_up_still(dsn: str) -> None:
    raw = await connect(dsn)
    await raw.execute("CREATE TYPE messor.colour AS ENUM ('red', 'blue')")
    assert await raw.fetchval("SELECT $1::messor.colour[]", ["red"]) == ["red"]
    both = await raw.fetchrow(
        "SELECT $1::messor.colour[] AS colours, $2::int[] AS ids", ["red"], [1]
    )
    assert dict(both) == {"colours": ["red"], "ids": [1]}
    await raw.close()


def test_nothing_changes_a_session_beyond_its_transaction() -> None:
    """Connections go back to the pool as they are."""
    house = Path(messor.__file__).parent
    found = [
        str(path.relative_to(house))
        for path in house.rglob("*")
        if path.suffix in (".py", ".sql") and LASTING.search(path.read_text())
    ]
    assert set(found) - WITH_THEIR_OWN == set()


async def test_a_statement_is_one_round_trip(database: Database) -> None:
    asked: list[str] = []
    async with database.connection() as connection:
        connection._raw.add_query_logger(lambda logged: asked.append(logged.query))
    assert await database.fetchval("SELECT 1") == 1
    assert asked == ["SELECT 1"]
