"""Slow queries: what PostgreSQL is busy with now, and what it has spent its time on.

Statistics of statements need the extension `pg_stat_statements`, loaded by the server; without it the
figures of tables and indexes, which every server keeps, still show what is read without an index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import asyncpg

from messor.core.masking import mask_text
from messor.store.database import Connection, Database

MAX_ROWS = 20
MAX_TEXT = 500
ENABLE = (
    "Add pg_stat_statements to shared_preload_libraries, restart PostgreSQL and run "
    "CREATE EXTENSION pg_stat_statements."
)

RUNNING = """
SELECT pid, extract(epoch FROM clock_timestamp() - query_start)::float8 AS seconds, state,
       wait_event, query
  FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'
   AND query_start < clock_timestamp() - make_interval(secs => $1)
 ORDER BY query_start LIMIT $2
"""
STATEMENTS = """
SELECT calls, total_exec_time / 1000 AS seconds, mean_exec_time AS mean_ms, max_exec_time AS max_ms,
       rows, query
  FROM {schema}.pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
 WHERE d.datname = current_database() AND mean_exec_time >= $1
 ORDER BY total_exec_time DESC LIMIT $2
"""
SCHEMA = """
SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
 WHERE e.extname = 'pg_stat_statements'
"""
SCANNED = """
SELECT relname AS name, seq_scan AS scans, seq_tup_read AS rows, coalesce(idx_scan, 0) AS index_scans
  FROM pg_stat_user_tables WHERE schemaname = 'messor' AND seq_tup_read > 0
 ORDER BY seq_tup_read DESC LIMIT $1
"""
UNUSED = """
SELECT s.relname AS table, s.indexrelname AS name, pg_relation_size(s.indexrelid) AS bytes
  FROM pg_stat_user_indexes s JOIN pg_index i ON i.indexrelid = s.indexrelid
 WHERE s.schemaname = 'messor' AND s.idx_scan = 0 AND NOT i.indisunique
 ORDER BY bytes DESC, name LIMIT $1
"""


@dataclass(frozen=True, slots=True)
class RunningQuery:
    """A statement that runs, or a transaction left open by it."""

    pid: int
    seconds: float
    state: str
    wait_event: str | None
    query: str


@dataclass(frozen=True, slots=True)
class StatementFigures:
    """What a statement has cost since the statistics began."""

    calls: int
    seconds: float  # in all
    mean_ms: float
    max_ms: float
    rows: int
    query: str


@dataclass(frozen=True, slots=True)
class ScannedTable:
    """A table that is read as a whole."""

    name: str
    scans: int
    rows: int  # read by them
    index_scans: int


@dataclass(frozen=True, slots=True)
class UnusedIndex:
    """An index that no query has used since the statistics began."""

    table: str
    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class SlowQueries:
    """All of it; `statements` is None without their statistics, and `advice` says what to do."""

    running: list[RunningQuery]
    statements: list[StatementFigures] | None
    advice: str | None
    scanned: list[ScannedTable]
    unused: list[UnusedIndex]


async def look(
    database: Database, *, running_seconds: float = 1.0, mean_ms: float = 10.0
) -> SlowQueries:
    """Statements that run longer than `running_seconds`, and those with at least `mean_ms` on average."""
    running = [
        RunningQuery(**{**row, "query": _shown(row["query"])})
        for row in await database.fetch(RUNNING, running_seconds, MAX_ROWS)
    ]
    statements = await _statements(database, mean_ms)
    return SlowQueries(
        running,
        statements,
        ENABLE if statements is None else None,
        [ScannedTable(**row) for row in await database.fetch(SCANNED, MAX_ROWS)],
        [UnusedIndex(**row) for row in await database.fetch(UNUSED, MAX_ROWS)],
    )


async def _statements(
    source: Connection | Database, mean_ms: float
) -> list[StatementFigures] | None:
    schema = await source.fetchval(SCHEMA)
    if schema is None:
        return None
    try:
        rows = await source.fetch(STATEMENTS.format(schema=schema), mean_ms, MAX_ROWS)
    except (asyncpg.ObjectNotInPrerequisiteStateError, asyncpg.UndefinedColumnError):
        return None  # not loaded by the server, or older than PostgreSQL 13
    return [_figures(row) for row in rows]


def _figures(row: Any) -> StatementFigures:
    numbers = {name: float(row[name]) for name in ("seconds", "mean_ms", "max_ms")}
    return StatementFigures(
        calls=row["calls"], rows=row["rows"], query=_shown(row["query"]), **numbers
    )


def _shown(query: str) -> str:
    """A statement on one line, without secrets and not too long."""
    return mask_text(" ".join(query.split()))[:MAX_TEXT]
