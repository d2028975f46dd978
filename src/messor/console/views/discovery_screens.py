"""The screens of search-led discovery together, in the order in which their addresses are tried."""

from __future__ import annotations

from messor.console.views import (
    candidates,
    discovery,
    keyword_growth,
    keywords,
    scores,
    serps,
    verticals,
)

SCREENS = (
    *verticals.SCREENS,
    *keywords.SCREENS,
    *keyword_growth.SCREENS,
    *keywords.ONE,
    *serps.SCREENS,
    *discovery.SCREENS,
    *candidates.SCREENS,
    *scores.SCREENS,
)
