"""What is held on a person: found in every table, handed over as one file, erased.

Tables are taken from the catalogue, so that none is forgotten: a row counts if it contains a name of
the person anywhere. Secrets are never handed over. Events keep only a hash of the name.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import msgspec

from messor.archive import texts
from messor.errors import UsageError
from messor.governance import erasure
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database

MIN_LETTERS = 3
MAX_NAMES = 20
MAX_ROWS = 10_000  # of a table, handed over
MAX_PAGES = 1_000

# Tables with columns of text, and the columns that are never shown: bytes, and what authenticates.
TABLES = """
SELECT c.relname::text AS name,
       coalesce(array_agg(a.attname::text) FILTER (
         WHERE a.atttypid = 'bytea'::regtype OR a.attname IN ('password_hash', 'tsv')), '{}') AS hidden
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE c.relnamespace = 'messor'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
   AND c.relname <> 'alembic_version'
 GROUP BY c.oid, c.relname
HAVING bool_or(a.atttypid IN ('text'::regtype, 'jsonb'::regtype, 'text[]'::regtype)) ORDER BY 1
"""
# Reading all of a large log takes its time.
PATIENTLY = "SET LOCAL statement_timeout = '10min'"
ROWS = """
SELECT (to_jsonb(t) - $2::text[])::text AS row FROM messor.{name} t
 WHERE EXISTS (SELECT FROM unnest($1::text[]) n
                WHERE strpos(lower((to_jsonb(t) - $2::text[])::text), n) > 0) LIMIT $3
"""
MEMBERS = """
SELECT m.id, 'member:' || m.id AS actor FROM messor.members m
 WHERE m.email = ANY ($1::text[]) OR lower(m.name) = ANY ($1::text[]) OR 'member:' || m.id = ANY ($1::text[])
"""
KEYS = "SELECT 'key:' || id AS actor FROM messor.api_keys WHERE member_id = ANY ($1::uuid[])"
PERSON_KEYS = "SELECT messor.person_key(n) FROM unnest($1::text[]) n"
IS_LAST_ADMIN = """
SELECT EXISTS (SELECT FROM messor.members WHERE id = ANY ($1::uuid[]) AND role = 'admin' AND disabled_at IS NULL)
   AND NOT EXISTS (SELECT FROM messor.members WHERE id <> ALL ($1::uuid[]) AND role = 'admin'
                    AND disabled_at IS NULL)
"""
DELETE_MEMBERS = "DELETE FROM messor.members WHERE id = ANY ($1::uuid[])"
PAGES = "SELECT id, url FROM messor.pages WHERE url = ANY ($1::text[]) ORDER BY id"
SNAPSHOTS = """
SELECT s.id, p.url FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id
  JOIN messor.page_snapshots s ON s.id = t.snapshot_id WHERE p.url = ANY ($1::text[]) ORDER BY s.id
"""


@dataclass(frozen=True, slots=True)
class HeldPlace:
    """A table with rows that name a person."""

    table: str
    rows: int
    is_cut: bool  # there are more


@dataclass(frozen=True, slots=True)
class PersonData:
    """What is held on a person."""

    places: list[HeldPlace]
    pages: list[str]  # whose text names the person
    rows: dict[str, list[Any]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class PersonErased:
    """The result of an erasure: what still names the person is listed to be looked at."""

    pages_erased: int
    members_erased: int
    left: list[HeldPlace]
    pages_left: list[str]


def names_of(given: Sequence[str]) -> list[str]:
    """The names and addresses to look for."""
    names = list(dict.fromkeys(name.strip().lower() for name in given if name.strip()))
    if not names or len(names) > MAX_NAMES or min(map(len, names)) < MIN_LETTERS:
        raise UsageError(
            f"Give 1 to {MAX_NAMES} names or addresses of the person, each of {MIN_LETTERS} letters "
            "or more."
        )
    return names


async def find(database: Database, given: Sequence[str], *, actor: str) -> PersonData:
    """Find what is held on a person; that somebody looked is an event."""
    found = await _find(database, names_of(given))
    await _note(database, "person.looked_up", given, actor)
    return found


async def handed_over(database: Database, given: Sequence[str], *, actor: str) -> bytes:
    """One ZIP file with everything that is held on a person."""
    found = await _find(database, names_of(given))
    rows = await database.fetch(SNAPSHOTS, found.pages)
    known = {row["id"]: row["url"] for row in rows}
    read: dict[str, str] = {}
    for at in range(0, len(rows), texts.AT_ONCE):
        part = [row["id"] for row in rows[at : at + texts.AT_ONCE]]
        read |= {
            known[one]: text.markdown for one, text in (await texts.texts(database, part)).items()
        }
    await _note(database, "person.handed_over", given, actor)
    return _packed(found, read)


async def erase(
    database: Database, given: Sequence[str], *, actor: str, reason: str, with_pages: bool
) -> PersonErased:
    """Erase a person's identity and account, and with `with_pages` the pages that name them."""
    names = names_of(given)
    async with database.transaction() as connection:
        members = await connection.fetch(MEMBERS, names)
        ids = [row["id"] for row in members]
        if ids and await connection.fetchval(IS_LAST_ADMIN, ids):
            raise UsageError("This is the last admin: make somebody else admin first.")
        actors = [row["actor"] for row in (*members, *await connection.fetch(KEYS, ids))]
        for who in dict.fromkeys((*names, *actors)):
            await erasure.erase_person(connection, who, actor=actor, reason=reason)
        await connection.execute(DELETE_MEMBERS, ids)
    pages = await _mentioned(database, names) if with_pages else []
    for url in pages:
        async with database.transaction() as connection:
            await erasure.erase_url(connection, url, actor=actor, reason=reason)
    left = await _find(database, names)
    return PersonErased(len(pages), len(ids), left.places, left.pages)


async def _find(database: Database, names: list[str]) -> PersonData:
    async with database.transaction() as connection:
        await connection.execute(PATIENTLY)
        actors = await _actors(connection, names)
        wanted = [*names, *actors]
        found: dict[str, list[Any]] = {}
        for table in await connection.fetch(TABLES):
            sql = ROWS.format(name=table["name"])
            rows = await connection.fetch(sql, wanted, table["hidden"], MAX_ROWS + 1)
            if rows:
                found[table["name"]] = [msgspec.json.decode(row["row"]) for row in rows]
    places = [
        HeldPlace(name, min(len(rows), MAX_ROWS), len(rows) > MAX_ROWS)
        for name, rows in found.items()
    ]
    return PersonData(places, await _mentioned(database, names), found)


async def _actors(connection: Connection, names: list[str]) -> list[str]:
    """How events name a member: by an id."""
    members = await connection.fetch(MEMBERS, names)
    keys = await connection.fetch(KEYS, [row["id"] for row in members])
    return [row["actor"] for row in (*members, *keys)]


async def _mentioned(database: Database, names: list[str]) -> list[str]:
    found: set[str] = set()
    for name in names:
        found.update(await erasure.mentions(database, name, MAX_PAGES))
    return sorted(found)


async def _note(database: Database, kind: str, given: Sequence[str], actor: str) -> None:
    """The event tells of whom by a hash alone."""
    async with database.transaction() as connection:
        keys = [row[0] for row in await connection.fetch(PERSON_KEYS, list(names_of(given)))]
        await record(connection, [Event(kind, actor, data={"keys": keys})])


def _packed(found: PersonData, read: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as package:
        for name, rows in found.rows.items():
            package.writestr(f"tables/{name}.json", _json(rows[:MAX_ROWS]))
        listed = []
        for number, (url, text) in enumerate(sorted(read.items()), 1):
            listed.append({"url": url, "file": f"pages/{number}.md"})
            package.writestr(f"pages/{number}.md", text)
        package.writestr("texts.json", _json(listed))
        places = [{"table": one.table, "rows": one.rows, "cut": one.is_cut} for one in found.places]
        package.writestr("index.json", _json({"tables": places, "pages": found.pages}))
    return file.getvalue()


def _json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2)
