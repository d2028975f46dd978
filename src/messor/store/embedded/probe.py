"""Whether the server responds, by real logins; callable from any thread, with or without an event
loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import asyncpg

from messor.errors import UnavailableError
from messor.store.connection import connect
from messor.store.embedded.folder import ROLE

Result = TypeVar("Result")

_LIMIT_SECONDS = 10.0
_NOT_YET = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,  # starting up, recovering or shutting down
    asyncpg.InterfaceError,  # the driver's error for a connection cut in the middle, as is the next
    asyncpg.InternalClientError,
)


class PasswordRefusedError(UnavailableError):
    """The server rejects the current password."""


def responds(dsn: str, passfile: Path) -> bool:
    """Whether the server serves Messor's database; False when it may do so later."""
    return in_thread(_log_in(dsn, passfile))


def set_password(dsn: str, verifier: str) -> None:
    """Set the password of Messor's role by its verifier."""
    in_thread(_execute(dsn, f"ALTER ROLE {ROLE} PASSWORD '{verifier}'"))


def in_thread(work: Coroutine[Any, Any, Result]) -> Result:
    """Run in another thread: the caller's may already run an event loop, and loops do not nest."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


async def _execute(dsn: str, sql: str) -> None:
    connection = await connect(dsn, timeout=_LIMIT_SECONDS)
    try:
        await connection.execute(sql, timeout=_LIMIT_SECONDS)
    finally:
        await connection.close(timeout=_LIMIT_SECONDS)


async def _log_in(dsn: str, passfile: Path) -> bool:
    try:
        # With this password only: the caller must know which one the server uses.
        connection = await asyncpg.connect(
            dsn, passfile=passfile, ssl=False, timeout=_LIMIT_SECONDS
        )
    except asyncpg.TooManyConnectionsError:
        return True
    except _NOT_YET:
        return False
    except asyncpg.InvalidPasswordError as error:
        raise PasswordRefusedError(
            f"The embedded database rejects the password in {passfile}: restore the file that "
            f"belongs to its data."
        ) from error
    except asyncpg.PostgresError as error:
        raise UnavailableError(f"The embedded database refuses Messor: {error}.") from error
    try:
        served = bool(await connection.fetchval("SELECT true", timeout=_LIMIT_SECONDS))
        await connection.close(timeout=_LIMIT_SECONDS)
    except _NOT_YET:
        connection.terminate()
        return False
    return served
