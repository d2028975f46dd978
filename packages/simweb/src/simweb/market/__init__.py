"""Markets: webs of some sixty domains around one kind of search, whose truth is known.

What is said there comes from `scripts/`, which is written by itself and knows nobody who reads it.
"""

from simweb.market.build import MARKETS, Market, open_market

__all__ = ["MARKETS", "Market", "open_market"]
