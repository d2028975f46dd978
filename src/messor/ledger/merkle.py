"""Merkle trees (RFC 6962): a hash over many rows from which one row can be shown without the others."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

Step = tuple[str, bytes]  # the side of the sibling, and its hash


def leaf(row_id: int, commitment: bytes) -> bytes:
    return sha256(b"\x00" + row_id.to_bytes(8, "big", signed=True) + commitment).digest()


def root(leaves: Sequence[bytes]) -> bytes:
    """The hash over all leaves; there is at least one."""
    level = list(leaves)
    while len(level) > 1:
        level = _above(level)
    return level[0]


def path(leaves: Sequence[bytes], place: int) -> list[Step]:
    """The siblings from a leaf up to the root."""
    level, found = list(leaves), []
    while len(level) > 1:
        sibling = place ^ 1
        if sibling < len(level):
            found.append(("left" if sibling < place else "right", level[sibling]))
        level, place = _above(level), place // 2
    return found


def _above(level: list[bytes]) -> list[bytes]:
    """The next level; a hash without a sibling goes up as it is."""
    paired = [
        sha256(b"\x01" + level[at] + level[at + 1]).digest() for at in range(0, len(level) - 1, 2)
    ]
    return paired + level[-1:] if len(level) % 2 else paired
