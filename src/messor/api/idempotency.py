"""Idempotency keys: a repeated request is executed once and gets the stored response.

For a single-transaction request the response is stored in the same transaction, so both exist or
neither; a concurrent duplicate waits for it. A request with several transactions is marked as
running first. Errors are not stored: they changed nothing and would recur.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import asyncpg
import msgspec
from fastapi import Request
from starlette.responses import Response

from messor.api.problems import KeyReusedError
from messor.errors import ConflictError, UsageError
from messor.store.database import Connection, Database

HEADER = "Idempotency-Key"
ABOUT = "Chosen by the caller; the same request with the same key is executed once"
REPLAYED = "Idempotency-Replayed"
_SHAPE = re.compile(r"[!-~]{1,255}")
_KEPT_HEADERS = ("content-type", "location", "etag", "preference-applied")

# A request that started long ago without finishing lost its process and is restarted.
BEGIN = """
INSERT INTO messor.idempotency_keys AS k (owner, key, request_hash) VALUES ($1, $2, $3)
ON CONFLICT (owner, key) DO UPDATE
   SET request_hash = excluded.request_hash, status = NULL, headers = NULL, body = NULL,
       begun_at = messor.clock(), expires_at = messor.clock() + interval '24 hours'
 WHERE k.expires_at < messor.clock()
    OR (k.status IS NULL AND k.begun_at < messor.clock() - interval '30 minutes'
        AND k.request_hash = excluded.request_hash)
RETURNING true
"""
FIND = """
SELECT request_hash, status, headers::text AS headers, body FROM messor.idempotency_keys
 WHERE owner = $1 AND key = $2
"""
FINISH = """
UPDATE messor.idempotency_keys SET status = $3, headers = $4::jsonb, body = $5
 WHERE owner = $1 AND key = $2
"""
FORGET = "DELETE FROM messor.idempotency_keys WHERE owner = $1 AND key = $2 AND status IS NULL"
SWEEP = """
DELETE FROM messor.idempotency_keys WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM messor.idempotency_keys WHERE expires_at < messor.clock() LIMIT $1
     FOR UPDATE SKIP LOCKED))
"""

Work = Callable[[], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A request with its idempotency key; without a key it is executed every time."""

    owner: str
    key: str | None
    fingerprint: bytes

    @classmethod
    def of(cls, request: Request, owner: str, body: bytes) -> KeyedRequest:
        key = request.headers.get(HEADER) if request.method == "POST" else None
        if key is not None and not _SHAPE.fullmatch(key):
            raise UsageError(f"{HEADER} must be 1 to 255 printable characters without spaces.")
        about = f"{request.method} {request.url.path}?{request.url.query}\n"
        digest = hashlib.sha256(about.encode("utf-8", "surrogatepass") + body).digest()
        return cls(owner, key, digest)


async def within(
    connection: Connection, keyed: KeyedRequest, work: Work, *, keep_body: bool
) -> Response:
    """Run in the caller's transaction: the work and its response are committed together."""
    if keyed.key is None:
        return await work()
    try:
        stored = await _begin(connection, keyed)
    except asyncpg.LockNotAvailableError as error:
        raise _still_running() from error
    if stored is not None:
        return stored
    response = await work()
    await _finish(connection, keyed, response, keep_body=keep_body)
    return response


async def beside(
    database: Database, keyed: KeyedRequest, work: Work, *, keep_body: bool
) -> Response:
    """For work with its own transactions: marked before it starts, stored when it ends."""
    if keyed.key is None:
        return await work()
    async with database.transaction() as connection:
        stored = await _begin(connection, keyed)
    if stored is not None:
        return stored
    is_done = False
    try:
        response = await work()
        is_done = True
    finally:
        if not is_done:
            await database.fetch(FORGET, keyed.owner, keyed.key)
    async with database.transaction() as connection:
        await _finish(connection, keyed, response, keep_body=keep_body)
    return response


async def _begin(connection: Connection, keyed: KeyedRequest) -> Response | None:
    """None for a new request; otherwise the stored response."""
    if await connection.fetchval(BEGIN, keyed.owner, keyed.key, keyed.fingerprint):
        return None
    row = await connection.fetchrow(FIND, keyed.owner, keyed.key)
    if row is None:
        raise _still_running()
    if bytes(row["request_hash"]) != keyed.fingerprint:
        raise KeyReusedError(f"This {HEADER} was used for a different request; choose a new one.")
    if row["status"] is None:
        raise _still_running()
    if row["body"] is None:
        raise ConflictError(
            "This request was already executed and its response is shown only once; "
            "send a new request with a new key."
        )
    headers = {**msgspec.json.decode(row["headers"]), REPLAYED: "true"}
    return Response(bytes(row["body"]), row["status"], headers=headers)


async def _finish(
    connection: Connection, keyed: KeyedRequest, response: Response, *, keep_body: bool
) -> None:
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    body = bytes(response.body) if keep_body else None
    encoded = msgspec.json.encode(headers).decode()
    await connection.execute(FINISH, keyed.owner, keyed.key, response.status_code, encoded, body)


def _still_running() -> ConflictError:
    return ConflictError("The same request is still running; retry in a moment.")


async def sweep(connection: Connection, limit: int = 10_000) -> int:
    """Delete expired responses and return how many. Run periodically."""
    done = await connection.execute(SWEEP, limit)
    return int(done.rpartition(" ")[2])
