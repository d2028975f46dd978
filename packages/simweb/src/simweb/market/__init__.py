"""Markets: webs of some sixty domains around one kind of search, with a known truth.

Texts come from `scripts/`, which is written independently of any reader.
"""

from simweb.market.build import MARKETS, Market, open_market

__all__ = ["MARKETS", "Market", "open_market"]
