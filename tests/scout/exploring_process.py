"""Explores in a process that kills itself after so many commits: DSN, address of Serper, commits."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from pydantic import SecretStr

from messor.scout import explore
from messor.scout.engines.registry import hire
from messor.scout.search import Searcher
from messor.settings import EngineOptions
from messor.store.database import Connection, Database
from messor.verticals import verticals
from simweb.engines.standin import KEY

KEYWORDS = 6


class Mortal(Database):
    """A database whose user does not outlive so many commits."""

    def __init__(self, dsn: str, commits: int) -> None:
        super().__init__(dsn)
        self._left = commits

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        async with super().transaction() as connection:
            yield connection
        self._count()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        async with super().connection() as connection:
            yield connection
        self._count()

    def _count(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


async def main(dsn: str, url: str, commits: str) -> None:
    async with Mortal(dsn, int(commits)) as database:
        hired = hire({"serper": EngineOptions(url=url, key=SecretStr(KEY))})
        searcher = Searcher(database, hired, hold=timedelta(0))
        applied = await verticals.get(database, "funding")
        await explore.explore(database, searcher, applied, actor="test", limit=KEYWORDS)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
