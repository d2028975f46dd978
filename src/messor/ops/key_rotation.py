"""Rotating the key that seals secrets: everything that is sealed is sealed anew under another key.

With `secret.key` three steps, each of which may be the last one that happens: the file gets a new
key and keeps the old one; all rows are sealed anew in one transaction; the old key goes. Run again,
it goes on where it was killed. Processes that run read the file again when it changes, so they can
open everything at any moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from messor.access import second_factor
from messor.errors import ConflictError
from messor.fetch.proxies.key_file import new_key
from messor.fetch.proxies.registry import endpoint_of
from messor.fetch.proxies.seal import Seal
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database

# Whoever sealed something under the old key just before has it in the database by then.
SETTLE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Sealed:
    """A column of sealed values, and to whom a row's value is bound."""

    table: str
    column: str
    owner: Callable[[Any], str]
    columns: str  # what the owner is told by
    key: str  # the type of its id
    id: str = "id"  # the column of its id


# Every column that holds sealed values; a test looks through the schema for others.
SEALED = (
    Sealed(
        "proxies",
        "proxy_password",
        lambda row: endpoint_of(row).url,
        "proxy_protocol, proxy_url, proxy_port, proxy_username",
        "bigint",
    ),
    Sealed("webhooks", "secret", lambda row: str(row["id"]), "url", "uuid"),
    Sealed(
        "second_factors",
        "sealed_secret",
        lambda row: second_factor.owner_of(row["member_id"]),
        "member_id",
        "uuid",
        "member_id",
    ),
)


@dataclass(frozen=True, slots=True)
class Rotation:
    """What came of it: values sealed anew, and those that no key there is can open."""

    resealed: int
    unreadable: tuple[str, ...]


async def rotate_key(
    database: Database,
    seal: Seal,
    *,
    actor: str,
    wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Rotation:
    """Seal everything under a new key and forget the old one."""
    if not seal.has_secret:
        await asyncio.to_thread(_begin, seal)
        await wait(SETTLE_SECONDS)
    done = await _reseal(database, seal, actor)
    if not seal.has_secret:
        await asyncio.to_thread(_finish, seal)
    return done


def _begin(seal: Seal) -> None:
    """Put a new key before the old one; two keys are a rotation that was killed."""
    if not seal.file.exists():
        raise ConflictError("Nothing is sealed yet: the key is made with the first secret.")
    keys = seal.file.read()
    if len(keys) == 1:
        seal.file.replace([new_key(), *keys])


def _finish(seal: Seal) -> None:
    seal.file.replace(seal.file.read()[:1])


async def _reseal(database: Database, seal: Seal, actor: str) -> Rotation:
    resealed, unreadable = 0, []
    async with database.transaction() as connection:
        for sealed in SEALED:
            # Waits for those who are writing, and makes others wait until all is sealed anew.
            await connection.execute(
                f"LOCK TABLE messor.{sealed.table} IN SHARE ROW EXCLUSIVE MODE"
            )
            count, lost = await _reseal_table(connection, seal, sealed)
            resealed += count
            unreadable += lost
        await record(connection, [Event("secrets.rotated", actor, data={"resealed": resealed})])
    return Rotation(resealed, tuple(unreadable))


async def _reseal_table(
    connection: Connection, seal: Seal, sealed: Sealed
) -> tuple[int, list[str]]:
    rows = await connection.fetch(
        f"SELECT {sealed.id} AS id, {sealed.columns}, {sealed.column} AS sealed "
        f"FROM messor.{sealed.table} WHERE {sealed.column} IS NOT NULL ORDER BY {sealed.id}"
    )
    ids, values, lost = [], [], []
    for row in rows:
        owner, value = sealed.owner(row), bytes(row["sealed"])
        if seal.is_newest(value, owner):
            continue
        if (text := seal.try_open(value, owner)) is None:
            lost.append(f"{sealed.table}: {owner}")
            continue
        ids.append(row["id"])
        values.append(seal.close(text, owner))
    if ids:
        await connection.execute(
            f"UPDATE messor.{sealed.table} t SET {sealed.column} = n.value "
            f"FROM unnest($1::{sealed.key}[], $2::bytea[]) AS n(id, value) WHERE t.{sealed.id} = n.id",
            ids,
            values,
        )
    return len(ids), lost
