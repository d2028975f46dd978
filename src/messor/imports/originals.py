"""Originals: bodies of one import that later records refer to, stored on disk.

A `revisit` record has no bytes: it names the digest of a payload that an earlier record holds, in
the same file or a previous one. A body is found by a digest only if that was verified.
"""

from __future__ import annotations

import base64
import binascii
import sqlite3
import zlib
from hashlib import sha1, sha256

_HASHES = {"sha1": sha1, "sha256": sha256, "sha-256": sha256, "sha-1": sha1}
_SETUP = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8000;
CREATE TABLE bodies (digest BLOB PRIMARY KEY, type TEXT, body BLOB) WITHOUT ROWID;
"""


class Originals:
    """Bodies by payload digest; closed when the import ends."""

    def __init__(self) -> None:
        # A temporary SQLite file that is deleted on close; used by one thread at a time.
        self._bodies = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._bodies.executescript(_SETUP)

    def keep(self, stated: str, content_type: str | None, *, payload: bytes, body: bytes) -> None:
        """Store a body under the digest that its record states, if it has that digest.

        Tools differ in whether they compute it before or after the content encoding.
        """
        name, digest = _digest(stated)
        if digest and any(_HASHES[name](data).digest() == digest for data in (payload, body)):
            self._bodies.execute(
                "INSERT OR IGNORE INTO bodies VALUES (?, ?, ?)",
                (digest, content_type, zlib.compress(body, 1)),
            )

    def find(self, stated: str) -> tuple[str | None, bytes] | None:
        """The content type and body of this digest, if it came before."""
        _, digest = _digest(stated)
        row = self._bodies.execute(
            "SELECT type, body FROM bodies WHERE digest = ?", (digest,)
        ).fetchone()
        return None if row is None else (row[0], zlib.decompress(row[1]))

    def close(self) -> None:
        self._bodies.close()


def _digest(stated: str) -> tuple[str, bytes]:
    """Algorithm and digest, in hexadecimal or base 32; empty if unknown."""
    name, _, text = stated.partition(":")
    name, text = name.strip().lower(), text.strip()
    if name not in _HASHES:
        return name, b""
    size = _HASHES[name]().digest_size
    try:
        digest = bytes.fromhex(text) if len(text) == 2 * size else base64.b32decode(text.upper())
    except (ValueError, binascii.Error):
        return name, b""
    return name, digest if len(digest) == size else b""
