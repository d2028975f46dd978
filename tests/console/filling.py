"""A row in every empty table whose columns could hold a secret, so that it can be planted there.

The database says what a row needs: references take an id of the table that they lead to, words of a
fixed kind the first one that the check allows. A table that comes later is filled without being
named here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import asyncpg

from messor.store.database import Database

NEEDED = """
SELECT a.attname::text AS column, t.typname::text AS kind, a.attnotnull AS needed,
       d.adbin IS NOT NULL OR a.attidentity <> '' AS is_given, a.attgenerated <> '' AS is_made,
       (SELECT f.relname::text FROM pg_constraint k JOIN pg_class f ON f.oid = k.confrelid
         WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.conkey = ARRAY[a.attnum] LIMIT 1) AS leads_to,
       (SELECT g.attname::text FROM pg_constraint k
          JOIN pg_attribute g ON g.attrelid = k.confrelid AND g.attnum = k.confkey[1]
         WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.conkey = ARRAY[a.attnum] LIMIT 1) AS leads_by,
       (SELECT string_agg(pg_get_constraintdef(k.oid), ' ') FROM pg_constraint k
         WHERE k.conrelid = c.oid AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum]) AS checks
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
 WHERE c.relname = $1 AND c.relnamespace = 'messor'::regnamespace ORDER BY a.attnum
"""
VALUES = {
    "text": "'x.example'", "varchar": "'x'", "uuid": "gen_random_uuid()", "jsonb": "'{}'", "bool": "false", "bytea": "sha256('x')",
    "timestamptz": "messor.clock()", "date": "messor.clock()::date", "interval": "interval '1 hour'",
    "_text": "ARRAY[]::text[]", "inet": "'192.0.2.1'",
}  # fmt: skip
# By the name of a column without a declared reference: the table that it leads to.
LIKELY = {"domain_id": "domains", "page_id": "pages", "host_id": "hosts", "member_id": "members",
          "key_id": "api_keys", "record_id": "records", "job_id": "jobs"}  # fmt: skip


async def fill(database: Database, tables: Sequence[str]) -> list[str]:
    """A row for each of these tables that is empty; answers which took one, parents first."""
    filled: list[str] = []
    waiting = [name for name in tables if not await _has_rows(database, name)]
    while waiting:
        done = [name for name in waiting if await _fill(database, name)]
        if not done:
            break
        filled += done
        waiting = [name for name in waiting if name not in done]
    return filled


async def _has_rows(database: Database, name: str) -> bool:
    return bool(await database.fetchval(f"SELECT EXISTS (SELECT FROM messor.{name})"))


async def _fill(database: Database, name: str) -> bool:
    row = {
        column["column"]: _value(column)
        for column in await database.fetch(NEEDED, name)
        if not column["is_made"] and _is_wanted(column)
    }
    columns = ", ".join(f'"{column}"' for column in row)
    try:
        await database.fetch(
            f"INSERT INTO messor.{name} ({columns}) SELECT {', '.join(row.values())}"
        )
    except asyncpg.PostgresError:
        return False
    return True


def _is_wanted(column: asyncpg.Record) -> bool:
    refers = column["leads_to"] or column["column"] in LIKELY
    return not column["is_given"] and (column["needed"] or bool(refers))


def _value(column: asyncpg.Record) -> str:
    if table := column["leads_to"] or LIKELY.get(column["column"]):
        return f"(SELECT {column['leads_by'] or 'id'} FROM messor.{table} ORDER BY 1 LIMIT 1)"
    if allowed := re.search(r"= (?:ANY \(ARRAY\[)?'([^']+)'::text", column["checks"] or ""):
        return f"'{allowed[1]}'"
    return VALUES.get(column["kind"], "1")
