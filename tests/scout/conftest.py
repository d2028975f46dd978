"""A simulated web with its search engines, and verticals in a database of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from decimal import Decimal

import pytest
from pydantic import SecretStr

from messor.fetch.services.breaker import Breaker
from messor.scout import keywords, track
from messor.scout.engines.options import settings_for
from messor.scout.engines.registry import ConfiguredEngine, engine_class
from messor.scout.search import WantedSerp
from messor.settings import EngineOptions
from messor.store.database import Database
from messor.verticals import files, verticals
from messor.verticals.verticals import Applied
from simweb.engines import STAND_INS, EngineStandIn, SearchIndex
from simweb.engines.standin import KEY
from simweb.world import World


@pytest.fixture(scope="session")
def index() -> SearchIndex:
    made = SearchIndex(World("demo", seed=7))
    made.search("grant")  # built now, not while somebody waits for an answer
    return made


class Bench:
    """Stand-ins that run, and engines that are hired from them."""

    def __init__(self, index: SearchIndex, stack: AsyncExitStack) -> None:
        self.index = index
        self.seconds = 0.0
        self._stack = stack

    async def hire(
        self,
        name: str,
        *,
        key: str = KEY,
        cost: str | None = None,
        budget: str | None = None,
        seconds: float = 20.0,
        **knobs: object,
    ) -> tuple[EngineStandIn, ConfiguredEngine]:
        stand_in = STAND_INS[name](self.index, **knobs)  # type: ignore[arg-type]
        await self._stack.enter_async_context(stand_in)
        kind = engine_class(name)
        options = EngineOptions(
            url=stand_in.base_url,
            key=SecretStr(key),
            cost=None if cost is None else Decimal(cost),
            monthly_budget=None if budget is None else Decimal(budget),
            timeout=seconds,
        )
        settings = settings_for(kind, options)
        engine = kind(settings)
        self._stack.push_async_callback(engine.close)
        breaker = Breaker(now=lambda: self.seconds)
        return stand_in, ConfiguredEngine(engine, settings.monthly_budget, breaker)


@pytest.fixture
async def bench(index: SearchIndex) -> AsyncIterator[Bench]:
    async with AsyncExitStack() as stack:
        yield Bench(index, stack)


Apply = Callable[[str], Awaitable[Applied]]


@pytest.fixture
def apply(database: Database) -> Apply:
    async def put(name: str) -> Applied:
        async with database.transaction() as connection:
            applied, _ = await verticals.apply(connection, files.shipped(name), actor="test")
        return applied

    return put


async def add_keyword(database: Database, applied: Applied, text: str, profile: str) -> None:
    async with database.transaction() as connection:
        await keywords.add(connection, applied, text, tier="A", names=[profile], actor="test")


@pytest.fixture
async def wanted(database: Database, apply: Apply) -> WantedSerp:
    applied = await apply("community_resources")
    await add_keyword(database, applied, "food parcel", "uk-desktop")
    return (await track.due(database, applied.id))[0].wanted
