"""Identity keys: stored sealed, published before they sign, and published until what they signed
has expired.

A new key signs once every cached copy of the directory has been refreshed; until then the former
one does. The private half of a key that signs no more is deleted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from messor.core.logs import room_logger
from messor.errors import ConflictError, NotFoundError, UnavailableError
from messor.fetch.identity.message_signatures import base64url, from_base64url, thumbprint
from messor.fetch.identity.signer import LIFETIME_SECONDS, RequestKey, RequestSigner
from messor.fetch.proxies.seal import Seal
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database

logger = room_logger(__name__)

DIRECTORY_SECONDS = 3600  # how long others may cache the directory
RELOAD_SECONDS = 30.0  # how often a worker looks for another key
# After its last signature was made by the slowest worker.
OVERLAP = timedelta(seconds=LIFETIME_SECONDS + 2 * RELOAD_SECONDS + 60)

COLUMNS = """k.id, k.thumbprint, k.public_key, k.created_at, k.use_from, k.published_until,
  k.sealed_key, k.id = (SELECT a.id FROM messor.identity_keys a
     WHERE a.use_from <= (SELECT messor.clock()) AND a.sealed_key IS NOT NULL
       AND (a.published_until IS NULL OR a.published_until > (SELECT messor.clock()))
     ORDER BY a.use_from DESC, a.id DESC LIMIT 1) IS TRUE AS is_active,
  k.published_until IS NULL OR k.published_until > (SELECT messor.clock()) AS is_published,
  k.use_from > (SELECT messor.clock()) AS is_waiting"""
LIST = f"SELECT {COLUMNS} FROM messor.identity_keys k ORDER BY k.id DESC"
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('messor.identity', 0))"
ADD = """
INSERT INTO messor.identity_keys (thumbprint, public_key, sealed_key, use_from)
VALUES ($1, $2, $3, messor.clock() + $4::interval)
"""
# Keys that wait to be used are replaced by the newer one.
RETIRE = """
UPDATE messor.identity_keys k
   SET published_until = CASE WHEN $3 OR k.use_from > messor.clock() THEN messor.clock()
                              ELSE messor.clock() + $2::interval END
 WHERE k.thumbprint <> $1
   AND (k.published_until IS NULL OR ($3 AND k.published_until > messor.clock()))
"""
FORGET = """
UPDATE messor.identity_keys SET sealed_key = NULL
 WHERE sealed_key IS NOT NULL AND published_until <= messor.clock()
"""


@dataclass(frozen=True, slots=True)
class IdentityKey:
    """A key's public half, and when it is used and published."""

    id: int
    thumbprint: str
    x: str  # the public key, as JWK writes it
    created_at: datetime
    use_from: datetime
    published_until: datetime | None
    is_active: bool
    is_published: bool
    is_waiting: bool  # published, and not used yet

    @property
    def public(self) -> bytes:
        return from_base64url(self.x)

    @property
    def jwk(self) -> dict[str, str]:
        return {"kty": "OKP", "crv": "Ed25519", "kid": self.thumbprint, "x": self.x, "use": "sig"}

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> IdentityKey:
        kept = {name: row[name] for name in cls.__slots__ if name != "x"}
        return cls(x=base64url(bytes(row["public_key"])), **kept)


def owner_of(thumbprint_: str) -> str:
    """What a sealed key is bound to."""
    return f"identity:{thumbprint_}"


async def all_keys(source: Connection | Database) -> list[IdentityKey]:
    """All keys, newest first."""
    return [IdentityKey.of(row) for row in await source.fetch(LIST)]


async def published(source: Connection | Database) -> list[IdentityKey]:
    return [key for key in await all_keys(source) if key.is_published]


async def signing_key(source: Connection | Database, seal: Seal) -> RequestKey | None:
    """The key that signs now; None if there is none."""
    return next((_opened(row, seal) for row in await source.fetch(LIST) if row["is_active"]), None)


async def signing_keys(source: Connection | Database, seal: Seal) -> list[RequestKey]:
    """Every published key, to prove that each is ours."""
    rows = await source.fetch(LIST)
    return [_opened(row, seal) for row in rows if row["is_published"] and row["sealed_key"]]


async def ensure(database: Database, seal: Seal, *, actor: str = "system") -> None:
    """Make the first key if there is none."""
    if any(key.is_active for key in await all_keys(database)):
        return
    async with database.transaction() as connection:
        await connection.execute(LOCK)
        if not any(key.is_active for key in await all_keys(connection)):
            await _add(connection, seal, timedelta(0), actor)


async def rotate(
    connection: Connection, seal: Seal, *, actor: str, at_once: bool = False
) -> Sequence[IdentityKey]:
    """Publish a new key; it signs once caches of the directory are fresh, or at once.

    `at_once` is for a key that others may know: the former one is withdrawn in the same moment.
    """
    await connection.execute(LOCK)
    known = await all_keys(connection)
    waiting = next((key for key in known if key.is_waiting and key.is_published), None)
    if waiting is not None and not at_once:
        raise ConflictError(
            f"A new key is published already and signs from {waiting.use_from:%Y-%m-%d %H:%M} on."
        )
    wait = timedelta(0) if at_once or not known else timedelta(seconds=DIRECTORY_SECONDS)
    made = await _add(connection, seal, wait, actor)
    await connection.execute(RETIRE, made, wait + OVERLAP, at_once)
    await connection.execute(FORGET)
    return await all_keys(connection)


async def refresh(signer: RequestSigner, database: Database, seal: Seal) -> None:
    """Let a worker's signer use the key that signs now.

    A key that cannot be opened stops nothing: the former one signs on, or nothing is signed.
    """
    try:
        signer.use(await signing_key(database, seal))
    except UnavailableError as error:
        logger.warning("Requests are not signed with the current identity key: %s", error)


async def named(source: Connection | Database, thumbprint_: str) -> IdentityKey:
    found = next((key for key in await all_keys(source) if key.thumbprint == thumbprint_), None)
    if found is None:
        raise NotFoundError("There is no identity key with this thumbprint.")
    return found


async def _add(connection: Connection, seal: Seal, wait: timedelta, actor: str) -> str:
    private = Ed25519PrivateKey.generate()
    public = private.public_key().public_bytes_raw()
    name = thumbprint(public)
    sealed = seal.close(base64url(private.private_bytes_raw()), owner_of(name))
    await connection.execute(ADD, name, public, sealed, wait)
    about = {"thumbprint": name, "signs_in_seconds": int(wait.total_seconds())}
    await record(connection, [Event("identity.key_added", actor, data=about)])
    return name


def _opened(row: Mapping[str, Any], seal: Seal) -> RequestKey:
    text = seal.open(bytes(row["sealed_key"]), owner_of(row["thumbprint"]))
    private = Ed25519PrivateKey.from_private_bytes(from_base64url(text))
    return RequestKey(row["id"], private, row["thumbprint"])
