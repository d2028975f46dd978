"""Databases that tests borrow: what a test wrote is deleted, and the next one gets the same database.

That costs a fifth of a clone. PostgreSQL's own counters tell which tables a test wrote to; where it
changed the schema, settings or statistics, or wrote much, the database is dropped and cloned anew.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass, field

import asyncpg

from tests.template_server import TEMPLATE, run_sql, with_database

# Plans assume at least ten pages for a table that was never analysed, so up to that a table in which
# dead rows lie is planned for as an empty one.
MOST_BYTES = 10 * 8192
_numbers = itertools.count()

# The functions behind pg_stat_activity and pg_stat_all_tables: the views take longer to plan than
# everything else that a short test asks.
_OTHERS = """
SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_get_activity(NULL)
 WHERE datid = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND pid <> pg_backend_pid()
"""
_CHANGES = """
SELECT oid::regclass::text AS name, relnamespace < 16384 AS is_catalog, rows,
       pg_relation_size(oid) AS bytes
  FROM (SELECT oid, relnamespace,
               pg_stat_get_tuples_inserted(oid) + pg_stat_get_tuples_updated(oid)
               + pg_stat_get_tuples_deleted(oid) AS rows
          FROM pg_class WHERE relkind IN ('r', 't', 'm') AND NOT relisshared) AS tables
 WHERE rows > 0
"""
_HAS_SETTINGS = """
SELECT EXISTS (SELECT FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
                WHERE d.datname = current_database())
"""
_NOT_EMPTY = """
SELECT c.oid::regclass::text AS name FROM pg_class c
 WHERE c.relkind = 'r' AND c.relnamespace = 'messor'::regnamespace AND pg_relation_size(c.oid) > 0
"""
_REWIND = """
SELECT setval(seqrelid, seqstart, false) FROM pg_sequence
 WHERE pg_sequence_last_value(seqrelid) IS NOT NULL
"""


@dataclass
class LentDatabases:
    """Databases of one server; each is lent to one test at a time."""

    server_dsn: str
    _free: list[str] = field(default_factory=list)
    _rows: dict[str, str] = field(default_factory=dict)  # of the template, as JSON by table
    _counts: dict[str, dict[str, int]] = field(default_factory=dict)  # rows written, by table

    async def lend(self) -> str:
        """The name of a database that is as the template."""
        if self._free:
            return self._free.pop()
        name = f"test_{os.getpid()}_{next(_numbers)}"
        await run_sql(
            self.server_dsn, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY file_copy"
        )
        return name

    async def take_back(self, name: str) -> None:
        """Make a database as the template again, or drop it."""
        connection = await asyncpg.connect(with_database(self.server_dsn, name), ssl=False)
        try:
            is_restored = await self._restore(connection, name)
        finally:
            await connection.close()
        if is_restored:
            self._free.append(name)
        else:
            await self._drop(name)

    async def close(self) -> None:
        """Drop the databases that nobody borrows."""
        while self._free:
            await self._drop(self._free.pop())

    async def _drop(self, name: str) -> None:
        self._counts.pop(name, None)
        await run_sql(self.server_dsn, f"DROP DATABASE {name} WITH (FORCE)")

    async def _restore(self, connection: asyncpg.Connection, name: str) -> bool:
        await connection.fetch(_OTHERS)  # they report what they wrote when they end
        known = self._counts.get(name, {})
        changed = [
            each for each in await connection.fetch(_CHANGES)
            if known.get(each["name"], 0) != each["rows"]
        ]  # fmt: skip
        if any(each["is_catalog"] or each["bytes"] > MOST_BYTES for each in changed):
            return False
        if await connection.fetchval(_HAS_SETTINGS):
            return False
        if changed:
            await self._delete(connection, [each["name"] for each in changed])
            self._counts[name] = {
                each["name"]: each["rows"] for each in await connection.fetch(_CHANGES)
            }
        return True

    async def _delete(self, connection: asyncpg.Connection, tables: list[str]) -> None:
        """Give tables the rows of the template, and sequences their first values."""
        if not self._rows:
            await self._remember()
        deletions = "; ".join(f"DELETE FROM {table}" for table in tables)
        await connection.execute(f"SET session_replication_role = replica; {deletions}")
        for table in self._rows.keys() & set(tables):
            await connection.execute(
                f"INSERT INTO {table} OVERRIDING SYSTEM VALUE "
                f"SELECT * FROM json_populate_recordset(NULL::{table}, $1)",
                self._rows[table],
            )
        await connection.execute(_REWIND)
        await connection.execute("SELECT pg_stat_force_next_flush()")

    async def _remember(self) -> None:
        """Read the rows that migrations insert."""
        template = await asyncpg.connect(with_database(self.server_dsn, TEMPLATE), ssl=False)
        try:
            for each in await template.fetch(_NOT_EMPTY):
                name = each["name"]
                rows = await template.fetchval(f"SELECT json_agg(t)::text FROM {name} t")
                self._rows[name] = rows or "[]"
        finally:
            await template.close()
