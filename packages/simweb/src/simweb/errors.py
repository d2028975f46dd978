"""Errors of the simulated web.

    SimwebError
    ├── WorldUnavailableError  the world's process does not start or refuses a control request
    └── MarketError            a market is unknown, or a world is not a market

`simweb.commands` translates them to Messor's errors.
"""

from __future__ import annotations


class SimwebError(Exception):
    """The root."""


class WorldUnavailableError(SimwebError):
    pass


class MarketError(SimwebError):
    pass
