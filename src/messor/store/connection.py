"""How a connection to PostgreSQL is opened: with or without TLS, and with which password.

All connections are opened here. During rotation the password is briefly in two files
(`store.embedded.folder`); a connection made in between, or after an interrupted rotation, tries
both.
"""

from __future__ import annotations

from typing import Any

import asyncpg

from messor.core.full_disk import FULL_WORDS
from messor.store.array_types import ArrayConnection
from messor.store.dsn import passfile_of

NEXT = ".next"  # suffix of the file that holds the new password
ATTEMPTS = 4  # a slow process may meet several rotations one after another


def is_plain_loopback(dsn: str) -> bool:
    """Whether the server is on loopback and the DSN does not mention TLS: then TLS is not tried.

    The driver would look for client certificates in a home folder that we may not be allowed to
    read.
    """
    return "@127.0.0.1:" in dsn and "ssl" not in dsn


async def connect(dsn: str, **how: Any) -> asyncpg.Connection:
    """Open one connection; a server without free connections raises a distinct error."""
    try:
        return await _connect(dsn, how)
    except asyncpg.InternalServerError as error:
        if FULL_WORDS not in str(error):
            raise
        raise asyncpg.DiskFullError(str(error)) from error


async def _connect(dsn: str, how: dict[str, Any]) -> asyncpg.Connection:
    how = {**how, "connection_class": ArrayConnection}
    if is_plain_loopback(dsn):
        how.setdefault("ssl", False)
    passfile = passfile_of(dsn)
    for _ in range(ATTEMPTS - 1):
        try:
            return await asyncpg.connect(dsn, **how)
        except asyncpg.InvalidPasswordError:
            if passfile is None:
                raise
            # While the password is rotated the new one stands beside the file; afterwards in it.
            waiting = passfile.with_name(passfile.name + NEXT)
            how.pop("passfile", None)
            if waiting.exists():
                how["passfile"] = waiting
    return await asyncpg.connect(dsn, **how)
