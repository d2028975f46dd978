"""How a connection to PostgreSQL is opened: with TLS or without, and by which password.

Everything that connects does it here. A password that is just being rotated lies in two files for
a moment (`store.embedded.folder`); whoever connects in between, or after a rotation was killed
half-way, tries both.
"""

from __future__ import annotations

from typing import Any

import asyncpg

from messor.core.full_disk import FULL_WORDS
from messor.store.dsn import passfile_of

NEXT = ".next"  # the end of the name of the file with the password to come


def is_plain_loopback(dsn: str) -> bool:
    """A server on loopback, without a word about TLS: then none is tried.

    The driver would look for client certificates in a home folder that may not be ours to read.
    """
    return "@127.0.0.1:" in dsn and "ssl" not in dsn


async def connect(dsn: str, **how: Any) -> asyncpg.Connection:
    """Open one connection; a server that has no room for it says so by another error."""
    try:
        return await _connect(dsn, how)
    except asyncpg.InternalServerError as error:
        if FULL_WORDS not in str(error):
            raise
        raise asyncpg.DiskFullError(str(error)) from error


async def _connect(dsn: str, how: dict[str, Any]) -> asyncpg.Connection:
    if is_plain_loopback(dsn):
        how.setdefault("ssl", False)
    try:
        return await asyncpg.connect(dsn, **how)
    except asyncpg.InvalidPasswordError:
        passfile = passfile_of(dsn)
        if passfile is None:
            raise
        waiting = passfile.with_name(passfile.name + NEXT)
        if waiting.exists():
            how["passfile"] = waiting
        # Without it the rotation has ended meanwhile: the file itself holds the new one.
        return await asyncpg.connect(dsn, **how)
