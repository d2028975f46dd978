"""How a command reaches the database: one connection, at most one transaction, as the local admin."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from messor.settings import Settings
from messor.store.database import Connection, Database
from messor.store.session import open_session

Result = TypeVar("Result")

LOCAL_ADMIN = "local-admin"


async def transact(act: Callable[[Connection], Awaitable[Result]]) -> Result:
    async with (
        open_session(Settings(), pool_size=1) as session,
        session.database.transaction() as connection,
    ):
        return await act(connection)


async def with_database(act: Callable[[Database], Awaitable[Result]]) -> Result:
    async with open_session(Settings(), pool_size=1) as session:
        return await act(session.database)
