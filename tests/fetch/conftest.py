"""A fetcher on a web made to order, with permits from a lease that lasts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from messor.core import clock
from messor.fetch.http import HttpFetcher
from messor.fetch.outcome import Fetched
from messor.politeness.lease import WorkerLease
from messor.politeness.pace import Pace, Permit
from tests.little_web import LittleWeb, Room


def permit() -> Permit:
    return Permit(Pace(0.0, 0.0, WorkerLease(1, 60.0, clock.now())))


@dataclass(frozen=True)
class Out:
    """A web and the way out to it."""

    web: LittleWeb
    fetcher: HttpFetcher

    async def get(self, path: str = "/", **validators: Any) -> Fetched:
        href = path if "://" in path else f"http://one.test{path}"
        return await self.fetcher.fetch(href, permit(), **validators)


Going = Callable[..., AbstractAsyncContextManager[Out]]


@pytest.fixture
def going_out(tmp_path: Path) -> Going:
    """Opens a web with one host, `one.test`, and a fetcher with the settings given."""

    @asynccontextmanager
    async def out(
        rooms: dict[str, Room], *, tls: bool = False, **values: Any
    ) -> AsyncIterator[Out]:
        async with LittleWeb(tmp_path, {"one.test": rooms}, tls=tls) as web:
            fetcher = HttpFetcher(web.settings(**values), "1")
            try:
                yield Out(web, fetcher)
            finally:
                await fetcher.close()

    return out
