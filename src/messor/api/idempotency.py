"""Idempotency keys: a request sent twice is done once, and answered twice.

Where a request is one transaction its answer is kept in the same one, so that both are there or
neither; a twin that comes meanwhile waits for it. A request of many transactions is marked as
under way first. Refusals are not kept: they changed nothing and would be given again.
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
ABOUT = "Any text of the caller's own; the same request with the same key is done once"
REPLAYED = "Idempotency-Replayed"
_SHAPE = re.compile(r"[!-~]{1,255}")
_KEPT_HEADERS = ("content-type", "location", "etag", "preference-applied")

# One that was begun long ago and has no end lost its process; it is begun anew.
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
    """A request under a key of its caller's; without one it is done as often as it comes."""

    owner: str
    key: str | None
    fingerprint: bytes

    @classmethod
    def of(cls, request: Request, owner: str, body: bytes) -> KeyedRequest:
        key = request.headers.get(HEADER) if request.method == "POST" else None
        if key is not None and not _SHAPE.fullmatch(key):
            raise UsageError(f"{HEADER} takes 1 to 255 printable characters without spaces.")
        about = f"{request.method} {request.url.path}?{request.url.query}\n"
        digest = hashlib.sha256(about.encode("utf-8", "surrogatepass") + body).digest()
        return cls(owner, key, digest)


async def within(
    connection: Connection, asked: KeyedRequest, work: Work, *, keep_body: bool
) -> Response:
    """In the caller's transaction: the work and its answer are kept together."""
    if asked.key is None:
        return await work()
    try:
        begun = await _begin(connection, asked)
    except asyncpg.LockNotAvailableError as error:
        raise _under_way() from error
    if begun is not None:
        return begun
    response = await work()
    await _finish(connection, asked, response, keep_body=keep_body)
    return response


async def beside(
    database: Database, asked: KeyedRequest, work: Work, *, keep_body: bool
) -> Response:
    """For work in transactions of its own: marked before, kept after."""
    if asked.key is None:
        return await work()
    async with database.transaction() as connection:
        begun = await _begin(connection, asked)
    if begun is not None:
        return begun
    is_done = False
    try:
        response = await work()
        is_done = True
    finally:
        if not is_done:
            await database.fetch(FORGET, asked.owner, asked.key)
    async with database.transaction() as connection:
        await _finish(connection, asked, response, keep_body=keep_body)
    return response


async def _begin(connection: Connection, asked: KeyedRequest) -> Response | None:
    """None when this is the first; otherwise the answer that was given then."""
    if await connection.fetchval(BEGIN, asked.owner, asked.key, asked.fingerprint):
        return None
    row = await connection.fetchrow(FIND, asked.owner, asked.key)
    if row is None:
        raise _under_way()
    if bytes(row["request_hash"]) != asked.fingerprint:
        raise KeyReusedError(f"This {HEADER} stands for another request. Choose a new one.")
    if row["status"] is None:
        raise _under_way()
    if row["body"] is None:
        raise ConflictError(
            "This was done already, and its answer was shown once. Make a new one with a new key."
        )
    headers = {**msgspec.json.decode(row["headers"]), REPLAYED: "true"}
    return Response(bytes(row["body"]), row["status"], headers=headers)


async def _finish(
    connection: Connection, asked: KeyedRequest, response: Response, *, keep_body: bool
) -> None:
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    body = bytes(response.body) if keep_body else None
    encoded = msgspec.json.encode(headers).decode()
    await connection.execute(FINISH, asked.owner, asked.key, response.status_code, encoded, body)


def _under_way() -> ConflictError:
    return ConflictError("The same request is under way. Its answer will be there in a moment.")


async def sweep(connection: Connection, most: int = 10_000) -> int:
    """Forget answers that ran out; answers how many. Run it now and then."""
    done = await connection.execute(SWEEP, most)
    return int(done.rpartition(" ")[2])
