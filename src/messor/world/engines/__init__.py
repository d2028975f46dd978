"""Stand-ins of search engines over the simulated web: they speak the wire, they are not the engines."""

from messor.world.engines.index import SearchIndex
from messor.world.engines.serving import STAND_INS, Engines, open_engines
from messor.world.engines.standin import EngineStandIn

__all__ = ["STAND_INS", "EngineStandIn", "Engines", "SearchIndex", "open_engines"]
