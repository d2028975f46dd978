"""All stand-ins at once, over one simulated web, with the settings that point Messor to them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from simweb.engines.google import DataForSEOStandIn, SerpApiStandIn, SerperStandIn
from simweb.engines.index import SearchIndex
from simweb.engines.plain import (
    BraveStandIn,
    BrowserbaseStandIn,
    FirecrawlSearchStandIn,
    PerplexityStandIn,
    SearXNGStandIn,
    TavilyStandIn,
)
from simweb.engines.standin import KEY, EngineStandIn
from simweb.world import World

STAND_INS: dict[str, type[EngineStandIn]] = {
    kind.name: kind
    for kind in (
        SearXNGStandIn,
        SerperStandIn,
        TavilyStandIn,
        DataForSEOStandIn,
        SerpApiStandIn,
        BraveStandIn,
        PerplexityStandIn,
        BrowserbaseStandIn,
        FirecrawlSearchStandIn,
    )
}


@dataclass(frozen=True, slots=True)
class Engines:
    """Running stand-ins, by name."""

    by_name: dict[str, EngineStandIn]

    @property
    def settings(self) -> dict[str, dict[str, str]]:
        """The setting `search_engines`, in order of use."""
        return {name: {"url": engine.base_url, "key": KEY} for name, engine in self.by_name.items()}

    def move_to(self, epoch: int) -> None:
        """Let time pass: positions drift, and outages begin and end."""
        for engine in self.by_name.values():
            engine.epoch = epoch


@asynccontextmanager
async def open_engines(
    world: World, names: Sequence[str] = ("serper",), index: SearchIndex | None = None
) -> AsyncIterator[Engines]:
    """Serve the named stand-ins while the context is open."""
    index = index or SearchIndex(world)
    async with AsyncExitStack() as stack:
        made = {name: STAND_INS[name](index) for name in names}
        for engine in made.values():
            await stack.enter_async_context(engine)
        yield Engines(made)
