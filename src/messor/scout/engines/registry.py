"""Available engines: found through the entry points of the group `messor.search_engines`.

Messor's own are registered there like third-party ones; where the package was installed without
entry points, the table below replaces them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from messor.errors import UsageError
from messor.fetch.services.breaker import Breaker
from messor.scout.engines.engine import Engine
from messor.scout.engines.options import settings_for
from messor.settings import EngineOptions

GROUP = "messor.search_engines"
OWN = {
    "searxng": "messor.scout.engines.searxng:SearXNG",
    "serper": "messor.scout.engines.serper:Serper",
    "tavily": "messor.scout.engines.tavily:Tavily",
    "dataforseo": "messor.scout.engines.dataforseo:DataForSEO",
    "serpapi": "messor.scout.engines.serpapi:SerpApi",
    "brave": "messor.scout.engines.brave:Brave",
    "perplexity": "messor.scout.engines.perplexity:Perplexity",
    "browserbase": "messor.scout.engines.browserbase:Browserbase",
    "firecrawl": "messor.scout.engines.firecrawl:FirecrawlSearch",
}


@cache
def _places() -> dict[str, EntryPoint]:
    own = {name: EntryPoint(name, place, GROUP) for name, place in OWN.items()}
    return own | {point.name: point for point in entry_points(group=GROUP)}


def known() -> list[str]:
    return sorted(_places())


def engine_class(name: str) -> type[Engine]:
    """The class of an engine; raises an error if it is unknown or invalid."""
    place = _places().get(name)
    if place is None:
        raise UsageError(f"Unknown search engine {name!r}; available are {', '.join(known())}.")
    try:
        found = place.load()
    except (ImportError, AttributeError) as error:
        raise UsageError(f"The search engine {name!r} cannot be loaded: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Engine)):
        raise UsageError(f"{place.value} is not a search engine class.")
    return found


@dataclass(slots=True)
class ConfiguredEngine:
    """An engine in use, with its budget and its circuit breaker for back-off."""

    engine: Engine
    monthly_budget: Decimal | None
    breaker: Breaker

    @property
    def name(self) -> str:
        return self.engine.name


def hire(options: Mapping[str, EngineOptions]) -> list[ConfiguredEngine]:
    """The configured engines, in order; call it within a running event loop."""
    # All are looked up before the first is created: a created engine holds connections.
    chosen = [
        (kind, settings_for(kind, given))
        for kind, given in ((engine_class(name), given) for name, given in options.items())
    ]
    return [
        ConfiguredEngine(kind(settings), settings.monthly_budget, Breaker())
        for kind, settings in chosen
    ]
