"""All screens of search-led discovery, in route-matching order."""

from __future__ import annotations

from messor.console.views import (
    candidates,
    discovery,
    keyword_growth,
    keywords,
    relevance,
    scores,
    serps,
    verticals,
)

SCREENS = (
    *verticals.SCREENS,
    *relevance.SCREENS,
    *keywords.SCREENS,
    *keyword_growth.SCREENS,
    *keywords.ONE,
    *serps.SCREENS,
    *discovery.SCREENS,
    *candidates.SCREENS,
    *scores.SCREENS,
)
