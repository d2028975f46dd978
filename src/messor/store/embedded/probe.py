"""Does the server answer? One real login and query, callable from any thread, loop or not."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import asyncpg

from messor.errors import UnavailableError
from messor.store.embedded.cluster import DATABASE, ROLE

_LIMIT_SECONDS = 10.0
_NOT_YET = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,  # starting up, recovering or shutting down
    asyncpg.InterfaceError,  # the driver's words for a connection cut in the middle, as is the next
    asyncpg.InternalClientError,
)


def answers(port: int, password: str) -> bool:
    """Whether the server on `port` serves Messor's database; False when it may do so later."""
    # The caller's thread may already run an event loop, and a loop cannot run inside another.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, _log_in(port, password)).result()


async def _log_in(port: int, password: str) -> bool:
    try:
        connection = await asyncpg.connect(
            host="127.0.0.1",
            port=port,
            user=ROLE,
            password=password,
            database=DATABASE,
            ssl=False,
            timeout=_LIMIT_SECONDS,
        )
    except asyncpg.TooManyConnectionsError:
        return True
    except _NOT_YET:
        return False
    except asyncpg.PostgresError as error:
        raise UnavailableError(
            f"The embedded database on port {port} refuses Messor: {error}."
        ) from error
    try:
        served = bool(await connection.fetchval("SELECT true", timeout=_LIMIT_SECONDS))
        await connection.close(timeout=_LIMIT_SECONDS)
    except _NOT_YET:
        connection.terminate()
        return False
    return served
