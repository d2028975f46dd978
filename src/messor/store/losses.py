"""What a downgrade deletes: parsed from its SQL, counted in the database.

Migrations are Messor's own and use plain `DROP TABLE`, `ALTER TABLE … DROP` and `DELETE FROM`; a
test compares the result with what each step really removes. Nothing is changed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from messor.errors import UsageError
from messor.store.database import Connection
from messor.store.revisions import history

_TABLES = re.compile(r"^DROP TABLE\s+(?:IF EXISTS\s+)?([^;]+);", re.MULTILINE)
_ALTERED = re.compile(r"^ALTER TABLE\s+messor\.(\w+)\s+([^;]+);", re.MULTILINE)
_COLUMN = re.compile(r"\bDROP\s+(?:COLUMN\s+)?(?!CONSTRAINT\b|COLUMN\b|DEFAULT\b|NOT\b)(\w+)")
_DELETED = re.compile(r"^DELETE FROM\s+messor\.(\w+)(?:\s+WHERE\s+([^;]+))?;", re.MULTILINE)
_FUNCTIONS = re.compile(r"\$\$.*?\$\$", re.DOTALL)
_EXACT_BELOW = 100_000  # rows; above this the planner's estimate is used


@dataclass(frozen=True, slots=True)
class DowngradeLoss:
    """A dropped table or column, or deleted rows, and how many rows that concerns."""

    revision: str
    what: str
    rows: int


def revisions_below(current: str, target: str) -> tuple[str, list[str]]:
    """The revision that a downgrade to `target` ends at, and the revisions it undoes.

    `target` is a revision or its number, a number of steps such as -1, or base.
    """
    if current not in history():
        raise UsageError(
            f"The database is at revision {current}, which this release does not know. "
            "Run: messor db upgrade"
        )
    known = history()[: history().index(current) + 1]
    if re.fullmatch(r"-\d+", target):
        left = known[: max(len(known) - int(target[1:]), 0)]
    elif target == "base":
        left = []
    elif named := [one for one in known if target in (one, one.partition("_")[0])]:
        left = known[: known.index(named[0]) + 1]
    else:
        raise UsageError(
            f"The database is at {current}; it cannot be downgraded to {target}. "
            f"Give one of {known[0]} to {known[-1]}, a number of steps such as -1, or base."
        )
    return (left[-1] if left else "base"), list(reversed(known[len(left) :]))


def dropped(revision: str) -> tuple[set[str], set[tuple[str, str]], list[tuple[str, str]]]:
    """The tables, columns and deleted rows (by their condition) of one downgrade."""
    from messor.store.migrate import downgrade_script  # noqa: PLC0415 - slow to load

    script = re.sub(r"--.*", "", _FUNCTIONS.sub("", downgrade_script(revision)))
    tables = {name for found in _TABLES.findall(script) for name in _names(found)}
    columns = {
        (table, column)
        for table, acts in _ALTERED.findall(script)
        for column in _COLUMN.findall(acts)
        if table not in tables
    }
    return tables, columns, [(table, where) for table, where in _DELETED.findall(script)]


def _names(found: str) -> Iterator[str]:
    for name in found.split(","):
        yield name.strip().removeprefix("messor.").split()[0]


async def losses(connection: Connection, undone: list[str]) -> list[DowngradeLoss]:
    """The existing data that undoing these revisions, newest first, deletes."""
    found: list[DowngradeLoss] = []
    gone: set[str] = set()
    for revision in undone:
        tables, columns, deleted = dropped(revision)
        if revision == history()[0]:
            tables, columns, deleted = await _all_tables(connection), set(), []
        for table in sorted(tables - gone):
            rows = await _rows(connection, table)
            found.append(DowngradeLoss(revision, f"table {table}", rows))
        gone |= tables
        for table, column in sorted(columns):
            if table not in gone:
                rows = await _rows(connection, table, f"{column} IS NOT NULL")
                found.append(DowngradeLoss(revision, f"column {table}.{column}", rows))
        for table, where in deleted:
            if table not in gone:
                rows = await _rows(connection, table, where or "true")
                found.append(DowngradeLoss(revision, f"rows of {table}", rows))
    return found


async def _all_tables(connection: Connection) -> set[str]:
    rows = await connection.fetch(
        """SELECT relname::text FROM pg_class
            WHERE relnamespace = 'messor'::regnamespace AND relkind IN ('r', 'p')
              AND NOT relispartition AND relname <> 'alembic_version'"""
    )
    return {row[0] for row in rows}


async def _rows(connection: Connection, table: str, where: str | None = None) -> int:
    estimate = await connection.fetchval(
        """SELECT coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint FROM pg_class c
            WHERE c.oid = to_regclass('messor.' || $1)
               OR c.oid IN (SELECT inhrelid FROM pg_inherits
                             WHERE inhparent = to_regclass('messor.' || $1))""",
        table,
    )
    if estimate >= _EXACT_BELOW:
        return int(estimate)
    bound = f"SELECT FROM messor.{table} WHERE {where or 'true'} LIMIT {_EXACT_BELOW}"
    return int(await connection.fetchval(f"SELECT count(*) FROM ({bound}) counted"))
