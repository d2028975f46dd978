"""Searches once in a process of its own, to be killed: DSN, keyword, profile, window, address of Serper."""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from uuid import UUID

from pydantic import SecretStr

from messor.scout.engines.model import SearchProfile
from messor.scout.engines.registry import hire
from messor.scout.search import Searcher, WantedSerp
from messor.settings import EngineOptions
from messor.store.database import Database
from simweb.engines.standin import KEY


async def main(dsn: str, keyword: str, profile: str, window: str, url: str) -> None:
    async with Database(dsn) as database:
        hired = hire({"serper": EngineOptions(url=url, key=SecretStr(KEY))})
        wanted = WantedSerp(UUID(keyword), UUID(profile), "food parcel", SearchProfile(), window)
        await Searcher(database, hired, hold=timedelta(seconds=0)).search(wanted)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
