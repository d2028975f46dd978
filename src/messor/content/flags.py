"""Flags: what deserves attention about a page, each with a confidence and a reason."""

from __future__ import annotations

from typing import NamedTuple

from messor.content.main import MainContent
from messor.content.page_type import PageType
from messor.content.records import Record
from messor.content.view import PageView

_THIN = 200  # characters of main text below which a page is thin
# Page types with nothing to extract.
_EMPTY_TYPES = ("error", "login", "cart", "search")
_FREE = "isAccessibleForFree"


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
