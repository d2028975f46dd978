"""Page type: what kind of page this is, with confidence and reasons; and what deserves attention.

The signs of `page_signs` are summed up. Confidence is the lead of the best type; a page without
signs is `other`. Flags are set once the content has been read, each with a confidence and a reason.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from messor.content.main import MainContent
from messor.content.page_signs import TYPE_OF_CATEGORY, read_signs
from messor.content.records import Record
from messor.content.view import PageView

OTHER = "other"
TYPES = (
    "home", "about", "service", "pricing", "contact", "menu", "product", "listing", "article",
    "faq", "legal", "login", "error", "event", "job", "search", "cart", "forum", "documentation", OTHER,
)  # fmt: skip
# Types whose text is written about things, not by those who offer them.
WRITTEN = ("article", "forum", "documentation")

_ENOUGH = 1.0  # weaker signs are ignored
_CATEGORIES = {
    name: category for category, name in TYPE_OF_CATEGORY.items() if name != "listing"
} | {"product": "products"}
_THIN = 200  # characters of main text below which a page is thin
# Page types with nothing to extract.
_EMPTY_TYPES = ("error", "login", "cart", "search")
_FREE = "isAccessibleForFree"


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


class PageFlag(NamedTuple):
    """One flag of a page."""

    name: str
    confidence: float
    reason: str


def read_flags(
    page: PageView, main: MainContent, type_: PageType, records: list[Record]
) -> list[PageFlag]:
    """Return the flags of a page whose content has been read."""
    found = []
    if main.is_article:
        found.append(PageFlag("article", 0.9, "running text was found"))
    if records and records[0].kind == "product":
        sure = round(records[0].confidence, 3)
        found.append(PageFlag("product", sure, f"a product was found by {records[0].parser}"))
    if len(main.text) < _THIN:
        found.append(PageFlag("thin", 1.0, f"the main text has {len(main.text)} characters"))
    if type_.name in _EMPTY_TYPES:
        sure = round(type_.confidence, 3)
        found.append(PageFlag(type_.name, sure, "; ".join(type_.reasons[:3])))
    if _is_paid(page):
        found.append(PageFlag("paywall", 0.9, f"{_FREE} is false"))
    return found


def _is_paid(page: PageView) -> bool:
    for item in page.items[:200]:
        stated = item.texts(_FREE)
        if stated:
            return stated[0].text.strip().lower().rpartition("/")[2] == "false"
    return False
