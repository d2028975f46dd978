"""Seal blocks: up to a thousand rows of one log and month, as salted commitments, chained and signed.

A commitment is the hash of a random salt and the row's text: without its salt it says nothing, so
erasing the row and its salt leaves a hash that the chain still needs. The head of a block hashes its
header, with the root over its rows and the head of the block before; an Ed25519 key signs it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from hashlib import sha256
from typing import Any, Protocol, Self

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from messor.ledger import merkle

MAX_ROWS = 1_000
SALT_BYTES = 16
HASH_BYTES = 32
NO_SALT = bytes(SALT_BYTES)
FIRST = bytes(HASH_BYTES)  # what the first block has in place of a previous head
SIGNED_AS = b"messor seal\n"

COLUMNS = """seq, log, form, month, first_id, last_id, ids, salts, commitments, previous, head,
  sealed_at, key_id, signature"""


class Signer(Protocol):
    """A key that signs."""

    @property
    def key_id(self) -> str: ...

    def sign(self, message: bytes) -> bytes: ...


@dataclass(frozen=True)
class SealBlock:
    """A block, as stored."""

    seq: int
    log: str
    form: int
    month: date
    first_id: int
    last_id: int
    ids: Sequence[int]
    salts: bytes
    commitments: bytes
    previous: bytes
    head: bytes
    sealed_at: str
    key_id: str
    signature: bytes

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        return cls(**row)

    @cached_property
    def leaves(self) -> list[bytes]:
        return [merkle.leaf(row_id, self.commitment(at)) for at, row_id in enumerate(self.ids)]

    def commitment(self, at: int) -> bytes:
        return self.commitments[at * HASH_BYTES : (at + 1) * HASH_BYTES]

    def salt(self, at: int) -> bytes:
        return self.salts[at * SALT_BYTES : (at + 1) * SALT_BYTES]

    def header(self) -> bytes:
        """What the head is the hash of."""
        return msgspec.json.encode(
            [
                "messor-seal-1", self.seq, self.log, self.form, self.month.isoformat(),
                len(self.ids), self.first_id, self.last_id, merkle.root(self.leaves).hex(),
                self.previous.hex(), self.sealed_at, self.key_id,
            ]
        )  # fmt: skip

    def is_whole(self) -> bool:
        """Whether its parts have the lengths that its rows need."""
        return (
            len(self.ids) > 0
            and len(self.salts) == SALT_BYTES * len(self.ids)
            and len(self.commitments) == HASH_BYTES * len(self.ids)
            and (self.first_id, self.last_id) == (min(self.ids), max(self.ids))
        )

    def is_signed(self, keys: Mapping[str, bytes]) -> bool:
        """Whether one of our keys signed this head."""
        key = keys.get(self.key_id)
        return key is not None and verifies(key, self.signature, SIGNED_AS + self.head)


def commitment_of(salt: bytes, text: str) -> bytes:
    return sha256(salt + text.encode()).digest()


def verifies(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether an Ed25519 signature is right."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class NewBlock:
    """Rows to seal together: their ids and texts."""

    log: str
    form: int
    month: date
    ids: Sequence[int]
    texts: Sequence[str]

    def sealed(self, seq: int, previous: bytes, sealed_at: str, signer: Signer) -> SealBlock:
        """The block that follows another."""
        salts = os.urandom(SALT_BYTES * len(self.ids))
        made = [
            sha256(salts[at : at + SALT_BYTES] + text.encode()).digest()
            for at, text in zip(range(0, len(salts), SALT_BYTES), self.texts, strict=True)
        ]
        given = (
            seq, self.log, self.form, self.month, min(self.ids), max(self.ids), list(self.ids), salts,
            b"".join(made), previous,
        )  # fmt: skip
        draft = SealBlock(*given, b"", sealed_at, signer.key_id, b"")
        head = sha256(draft.header()).digest()
        return SealBlock(*given, head, sealed_at, signer.key_id, signer.sign(SIGNED_AS + head))
