"""Page type: what kind of page this is, with confidence and reasons.

The signs of `page_signs` are summed up. Confidence is the lead of the best type; a page without
signs is `other`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from messor.content.page_signs import TYPE_OF_CATEGORY, read_signs
from messor.content.view import PageView

OTHER = "other"
TYPES = (
    "home", "about", "service", "pricing", "contact", "menu", "product", "listing", "article",
    "faq", "legal", "login", "error", "event", "job", "search", "cart", OTHER,
)  # fmt: skip

_ENOUGH = 1.0  # weaker signs are ignored
_CATEGORIES = {
    name: category for category, name in TYPE_OF_CATEGORY.items() if name != "listing"
} | {"product": "products"}


@dataclass(frozen=True, slots=True)
class PageType:
    """A page type, its confidence (0 to 1), and the signs for it."""

    name: str
    confidence: float
    reasons: tuple[str, ...] = ()

    @property
    def category(self) -> str | None:
        """The site category the type belongs to, as used to sample links."""
        return _CATEGORIES.get(self.name)

    def as_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "category": self.category,
            "confidence": round(self.confidence, 3),
            "reasons": list(self.reasons),
        }


def page_type(page: PageView, *, status: int = 200) -> PageType:
    """Return the type of a page fetched with this status."""
    if status >= 400:
        return PageType("error", 1.0, (f"status {status}",))
    return page.once(_verdict)


def _verdict(page: PageView) -> PageType:
    signs = read_signs(page)
    ranked = sorted([(weight, name) for name, weight in signs.weights.items()], reverse=True)
    if not ranked or ranked[0][0] < _ENOUGH:
        return PageType(OTHER, 0.5, ("no sign of any other type",))
    best, name = ranked[0]
    # As if "other" had the weight of one sign: a single weak sign gives no certainty.
    total = sum([math.exp(weight) for weight, _ in ranked]) + math.e
    return PageType(name, math.exp(best) / total, tuple(signs.reasons[name]))
