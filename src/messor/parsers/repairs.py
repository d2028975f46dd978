"""Repairs: proposes where values that a parser lost may be now.

A rebuilt site usually states the same data elsewhere. The values last read are searched on today's
pages; a selector that yields them on several pages is worth a line in a parser for the domain.
Nothing is applied: a person reviews the proposals.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turbohtml import Element

from messor.content.products import normalise as _normalise  # noqa: F401  (registers its normalisers)
from messor.content.view import PageView

# Fields to search for, and their normalisers.
READ_AS = {
    "product_name": "text", "price": "shown_amount", "list_price": "shown_amount", "sku": "sku",
    "brand": "text", "gtin": "gtin", "mpn": "sku", "rating": "rating", "review_count": "count",
}  # fmt: skip
FEWEST_PAGES = 2
LEAST_SHARE = 0.5
MOST_ELEMENTS = 4_000
MOST_TEXT = 300

_PLAIN_NAME = re.compile(r"[A-Za-z_-][A-Za-z_-]{1,60}")
_NAMED_BY = ("itemprop", "data-testid", "data-test", "data-qa")


@dataclass(frozen=True, slots=True)
class LostPage:
    """A page as it is today, and the values read from it before."""

    page: PageView
    before: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A selector that yields a field's previous values."""

    field: str
    selector: str
    normaliser: str
    found: int  # pages on which it yields the known value
    pages: int  # pages on which the value was known

    @property
    def line(self) -> str:
        """As a line in a parser for the domain."""
        return f'("{self.field}", "{self.selector}", "{self.normaliser}"),'


def propose(lost: Sequence[LostPage]) -> list[Proposal]:
    """Return the best selector for each field that has one, the best supported first."""
    found: dict[tuple[str, str], int] = defaultdict(int)
    known: dict[str, int] = defaultdict(int)
    for one in lost:
        for name, normaliser in READ_AS.items():
            if one.before.get(name) is None:
                continue
            known[name] += 1
            for selector in set(_places(one.page, normaliser, one.before[name])):
                found[name, selector] += 1
    best: dict[str, Proposal] = {}
    for (name, selector), count in sorted(found.items(), key=lambda each: (-each[1], each[0])):
        if count >= max(FEWEST_PAGES, LEAST_SHARE * known[name]):
            made = Proposal(name, selector, READ_AS[name], count, known[name])
            best.setdefault(name, made)
    return sorted(best.values(), key=lambda one: (-one.found / one.pages, one.field))


def _places(page: PageView, normaliser: str, value: Any) -> Iterator[str]:
    """Yield selectors whose first match on the page has the value."""
    tried: set[str] = set()
    for element in page.document.select("body *")[:MOST_ELEMENTS]:
        if len(element.text) > MOST_TEXT:
            continue
        for selector in _selectors(element):
            if selector in tried:
                continue  # an earlier element matches first
            tried.add(selector)
            made = page.inside(element).field(normaliser)
            if made is not None and made.value == value:
                yield selector


def _selectors(element: Element) -> Iterator[str]:
    """Yield selectors of an element that are likely to work on other pages too."""
    tag = element.tag
    own = element.attr("id") or ""
    if _PLAIN_NAME.fullmatch(own):
        yield f"#{own}"
    for attribute in _NAMED_BY:
        given = element.attr(attribute) or ""
        if _PLAIN_NAME.fullmatch(given):
            yield f"{tag}[{attribute}='{given}']"
    for name in (element.attr("class") or "").split()[:6]:
        if _PLAIN_NAME.fullmatch(name):
            yield f"{tag}.{name}"
    if tag == "h1":
        yield tag
