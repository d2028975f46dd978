"""Rotation of the key that encrypts secrets: every secret is encrypted again under a new key.

With `secret.key` there are three steps, and a crash after any of them is safe: the file gets a new
key and keeps the old one; all rows are encrypted again in one transaction; the old key is removed.
A repeated call continues where it was killed. Running processes reload the file when it changes, so
they can decrypt everything at any moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from messor.access import second_factor
from messor.errors import ConflictError
from messor.fetch import signing_keys
from messor.fetch.identity import keys as identity_keys
from messor.fetch.proxies.key_file import new_key
from messor.fetch.proxies.registry import endpoint_of
from messor.fetch.proxies.seal import Seal
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database

# By then, anything encrypted under the old key just before is in the database.
SETTLE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Sealed:
    """A column of encrypted values, and the owner that a row's value is bound to."""

    table: str
    column: str
    owner: Callable[[Any], str]
    columns: str  # what identifies the owner to people
    key: str  # the type of its id
    id: str = "id"  # the column of its id


# Every column of encrypted values; a test searches the schema for others.
SEALED = (
    Sealed(
        "proxies",
        "proxy_password",
        lambda row: endpoint_of(row).url,
        "proxy_protocol, proxy_url, proxy_port, proxy_username",
        "bigint",
    ),
    Sealed("webhooks", "secret", lambda row: str(row["id"]), "url", "uuid"),
    Sealed("hook_secrets", "secret", lambda row: str(row["id"]), "made_at", "uuid", "key_id"),
    Sealed("scrape_jobs", "hook", lambda row: str(row["id"]), "url", "uuid"),
    Sealed("monitors", "hook", lambda row: str(row["id"]), "name", "uuid"),
    Sealed(
        "second_factors",
        "sealed_secret",
        lambda row: second_factor.owner_of(row["member_id"]),
        "member_id",
        "uuid",
        "member_id",
    ),
    Sealed(
        "identity_keys",
        "sealed_key",
        lambda row: identity_keys.owner_of(row["thumbprint"]),
        "thumbprint",
        "integer",
    ),
    Sealed(
        "signing_keys", "sealed_key", lambda row: signing_keys.owner_of(row["id"]), "id", "text"
    ),
)


@dataclass(frozen=True, slots=True)
class Rotation:
    """The result: values encrypted again, and those that no known key can decrypt."""

    resealed: int
    unreadable: tuple[str, ...]


async def rotate_key(
    database: Database,
    seal: Seal,
    *,
    actor: str,
    wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Rotation:
    """Encrypt everything under a new key and remove the old one."""
    if not seal.has_secret:
        await asyncio.to_thread(_begin, seal)
        await wait(SETTLE_SECONDS)
    done = await _reseal(database, seal, actor)
    if not seal.has_secret:
        await asyncio.to_thread(_finish, seal)
    return done


def _begin(seal: Seal) -> None:
    """Put a new key before the old one; two keys mean a rotation that was killed."""
    if not seal.file.exists():
        raise ConflictError("There are no secrets yet: the key is created with the first one.")
    keys = seal.file.read()
    if len(keys) == 1:
        seal.file.replace([new_key(), *keys])


def _finish(seal: Seal) -> None:
    seal.file.replace(seal.file.read()[:1])


async def _reseal(database: Database, seal: Seal, actor: str) -> Rotation:
    resealed, unreadable = 0, []
    async with database.transaction() as connection:
        for sealed in SEALED:
            # Waits for concurrent writers, and blocks others until everything is encrypted again.
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
