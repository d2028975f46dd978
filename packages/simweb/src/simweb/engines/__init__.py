"""Stand-ins of search engines over the simulated web: they speak the wire, they are not the engines."""

from simweb.engines.index import SearchIndex
from simweb.engines.serve import STAND_INS, Engines, open_engines
from simweb.engines.standin import EngineStandIn

__all__ = ["STAND_INS", "EngineStandIn", "Engines", "SearchIndex", "open_engines"]
