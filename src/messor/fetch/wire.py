"""Bytes as they came: how the same answer is known again before it is unpacked.

Most pages that have not changed come back byte for byte, gzip and all. Unpacking and hashing them
costs more than all the rest of such a visit. A server that packs anew each time is no harm: its
pages are compared unpacked. The digest is the one that the archive keeps of the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha1


def digest_of(wire: bytes) -> bytes:
    """Who finds other bytes with the same one deceives nobody but about pages of their own."""
    return sha1(wire, usedforsecurity=False).digest()


def tag_of(digest: bytes) -> int:
    """A name of 64 bits, as PostgreSQL's bigint holds it."""
    return int.from_bytes(digest[:8], "big", signed=True)


def unpacked_size(wire: bytes, headers: Mapping[str, str]) -> int:
    """How long a body is once unpacked, by its own word."""
    if headers.get("Content-Encoding", "").strip().lower() in ("gzip", "x-gzip"):
        return int.from_bytes(wire[-4:], "little")
    return len(wire)
