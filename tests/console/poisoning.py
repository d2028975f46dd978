"""Hostile words in place of every word that is stored: each column that takes them has them.

The database says which columns take what; those that hold names of a fixed kind refuse, by their
checks. A table that comes later is poisoned without being named here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import asyncpg
import msgspec

from messor.store.database import Connection, Database
from messor.verticals.model import Vertical
from messor.watches.conditions import Condition

COLUMNS = """
SELECT c.table_name::text AS name, c.column_name::text AS column, c.udt_name::text AS kind
  FROM information_schema.columns c
  JOIN pg_class t ON t.relname = c.table_name AND t.relnamespace = 'messor'::regnamespace
 WHERE c.table_schema = 'messor' AND t.relkind IN ('r', 'p') AND NOT t.relispartition
   AND c.is_generated = 'NEVER' AND c.udt_name IN ('text', 'varchar', '_text', 'jsonb')
 ORDER BY 1, 2
"""
LENGTHS = (20_000, 1_900, 280, 90, 50)

# Words of Messor's own, which no stranger chooses; a screen may rely on them.
OURS = {
    "members.email", "members.password_hash", "members.role", "api_keys.scopes",
    "domains.domain", "hosts.host", "verticals.name", "search_documents.config",
}  # fmt: skip
# Texts within these are replaced one by one, as far as the whole is still what its readers take.
SHAPED: dict[str, Callable[[bytes], object]] = {
    "verticals.definition": Vertical.model_validate_json,
    "watches.condition": Condition.model_validate_json,
}


async def poison(database: Database, words: list[str]) -> list[str]:
    """Replace what is stored; answers which columns took it."""
    joined = " ".join(word.replace("\x00", "") for word in words)
    taken = []
    for row in await database.fetch(COLUMNS):
        name, column, kind = row["name"], row["column"], row["kind"]
        if f"{name}.{column}" not in OURS and await _poison(database, name, column, kind, joined):
            taken.append(f"{name}.{column}")
    return taken


async def _poison(database: Database, name: str, column: str, kind: str, joined: str) -> bool:
    words = f"javascript:__ran()//{joined}" if "url" in column else joined
    for length in LENGTHS:
        try:
            async with database.transaction() as connection:
                if kind == "jsonb":
                    return await _poison_json(connection, name, column, words[: min(length, 1_900)])
                value = "ARRAY[$1::text]" if kind == "_text" else "$1::text || ctid::text"
                done = await connection.execute(
                    f'UPDATE messor.{name} SET "{column}" = {value} WHERE "{column}" IS NOT NULL',
                    words[:length],
                )
                return not done.endswith(" 0")
        except asyncpg.PostgresError:
            continue
    return False


async def _poison_json(connection: Connection, name: str, column: str, words: str) -> bool:
    rows = await connection.fetch(
        f'SELECT ctid::text AS place, "{column}"::text AS value FROM messor.{name} WHERE "{column}" IS NOT NULL'
    )
    for row in rows:
        value = _hostile(row["value"], words, SHAPED.get(f"{name}.{column}")).decode()
        await connection.execute(
            f'UPDATE messor.{name} SET "{column}" = $2::jsonb WHERE ctid = $1::text::tid',
            row["place"],
            value,
        )
    return bool(rows)


def _hostile(text: str, words: str, check: Callable[[bytes], object] | None) -> bytes:
    whole = msgspec.json.decode(text)
    if check is None:
        return msgspec.json.encode(_replaced(whole, words))
    for path in list(_texts(whole)):
        holder = whole
        for step in path[:-1]:
            holder = holder[step]
        before, holder[path[-1]] = holder[path[-1]], words[:60]
        try:
            check(msgspec.json.encode(whole))
        except ValueError:
            holder[path[-1]] = before
    return msgspec.json.encode(whole)


def _texts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every text within."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, list | dict):
        steps = enumerate(value) if isinstance(value, list) else value.items()
        for step, one in steps:
            yield from _texts(one, (*path, step))


def _replaced(value: Any, words: str) -> Any:
    """Every text within; numbers, names of fields and the shape stay."""
    if isinstance(value, str):
        return words
    if isinstance(value, list):
        return [_replaced(one, words) for one in value]
    if isinstance(value, dict):
        return {key: _replaced(one, words) for key, one in value.items()}
    return value
