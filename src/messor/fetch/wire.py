"""Recognises an unchanged response by its bytes on the wire, before decompression.

Most unchanged pages come back byte for byte, gzip included. Decompressing and hashing them costs
more than the rest of such a visit. A server that compresses anew each time does no harm: its pages
are compared decompressed. The digest is the one that the archive stores for the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha1


def digest_of(wire: bytes) -> bytes:
    """A collision deceives only about pages of whoever made it."""
    return sha1(wire, usedforsecurity=False).digest()


def tag_of(digest: bytes) -> int:
    """The first 64 bits, as PostgreSQL's bigint holds them."""
    return int.from_bytes(digest[:8], "big", signed=True)


def unpacked_size(wire: bytes, headers: Mapping[str, str]) -> int:
    """The decompressed length of a body, as it declares it."""
    if headers.get("Content-Encoding", "").strip().lower() in ("gzip", "x-gzip"):
        return int.from_bytes(wire[-4:], "little")
    return len(wire)
