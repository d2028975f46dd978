"""Stand-ins for search engines over the simulated web, with the real wire formats."""

from simweb.engines.index import SearchIndex
from simweb.engines.serve import STAND_INS, Engines, open_engines
from simweb.engines.standin import EngineStandIn

__all__ = ["STAND_INS", "EngineStandIn", "Engines", "SearchIndex", "open_engines"]
