"""Signing keys: Ed25519 keys that sign seals, checkpoints and evidence; the private part is encrypted.

The newest key signs, all of them verify. What signs requests to sites is another key.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from hashlib import sha256

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from messor.fetch.proxies.seal import Seal
from messor.store.database import Connection, Database

LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('messor.signing_keys', 0))"
KEYS = "SELECT id, sealed_key FROM messor.signing_keys ORDER BY created_at DESC, id"
PUBLIC = "SELECT id, public_key FROM messor.signing_keys"
ADD = "INSERT INTO messor.signing_keys (id, public_key, sealed_key) VALUES ($1, $2, $3)"


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key that signs."""

    key_id: str
    public_key: bytes
    _private: Ed25519PrivateKey

    @classmethod
    def of(cls, private: Ed25519PrivateKey) -> SigningKey:
        public = private.public_key().public_bytes_raw()
        return cls(thumbprint(public), public, private)

    def sign(self, message: bytes) -> bytes:
        return self._private.sign(message)


def thumbprint(public_key: bytes) -> str:
    """The name of a key: the SHA-256 of its JWK (RFC 7638, RFC 8037)."""
    jwk = {"crv": "Ed25519", "kty": "OKP", "x": in_base64(public_key)}
    return in_base64(sha256(msgspec.json.encode(jwk)).digest())


def in_base64(data: bytes) -> str:
    """As JOSE writes bytes: URL-safe, without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def owner_of(key_id: str) -> str:
    """What a sealed key is bound to."""
    return f"signing key {key_id}"


async def signing_key(connection: Connection, seal: Seal) -> SigningKey:
    """The newest key that this machine can open; the first one is made when it is needed."""
    found = await _opened(connection, seal)
    if found is None:
        await connection.execute(LOCK)
        found = await _opened(connection, seal)
    return found or await _add(connection, seal)


async def _opened(connection: Connection, seal: Seal) -> SigningKey | None:
    for row in await connection.fetch(KEYS):
        private = seal.try_open(bytes(row["sealed_key"]), owner_of(row["id"]))
        if private is not None:
            return SigningKey.of(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(private)))
    return None


async def public_keys(source: Connection | Database) -> dict[str, bytes]:
    """All public keys by their ids."""
    return {row["id"]: bytes(row["public_key"]) for row in await source.fetch(PUBLIC)}


async def _add(connection: Connection, seal: Seal) -> SigningKey:
    private = Ed25519PrivateKey.generate()
    made = SigningKey.of(private)
    sealed = seal.close(private.private_bytes_raw().hex(), owner_of(made.key_id))
    await connection.execute(ADD, made.key_id, made.public_key, sealed)
    return made
