"""Shop vocabulary: the lists of `data/shops.toml`, patterns of names, and how to search for words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from messor.core.words import load, phrases

_WORDS = load("messor.content", "shops")
# Program names of stock states, without spaces and in lower case.
STATES: dict[str, str] = {
    name: state for state, names in _WORDS["states"].items() for name in phrases(names, "|")
}
OUT_OF_STOCK = phrases(_WORDS["out_of_stock"], "|")
IN_STOCK = phrases(_WORDS["in_stock"], "|")
PREORDER = phrases(_WORDS["preorder"], "|")
OTHERS = phrases(_WORDS["others"], "|")  # headings of lists of other products
OLD_LABELS = phrases(_WORDS["old_labels"], "|")
CART_WORDS = phrases(_WORDS["cart_words"], "|")
# Parts of the names of elements.
PRICE_NAMES = phrases(_WORDS["price_names"], "|")
BUTTON_NAMES = phrases(_WORDS["button_names"], "|")
BRAND_NAMES = phrases(_WORDS["brand_names"], "|")
STOCK_NAMES = phrases(_WORDS["stock_names"], "|")
NUMBER_NAMES = phrases(_WORDS["number_names"], "|")
# Labels of product numbers and names, by field; those of strong_sku are unambiguous.
LABELS = {field: frozenset(phrases(labels, "|")) for field, labels in _WORDS["labels"].items()}
ANY_LABEL = frozenset().union(*LABELS.values())

# A label of an old price within a line, before the price: "De: R$ 599,90".
OLD_BEGINNING = re.compile(
    rf"[^\d]{{0,20}}?(?<![^\W\d_])(?:{'|'.join(map(re.escape, OLD_LABELS))})(?![a-zà-ÿ])"
)

# Parts of a page whose prices belong to other items.
ELSEWHERE = re.compile(
    r"relat|recom|similar|carousel|slider|cross-?sell|up-?sell|also|alternativ|sponsor|recent|viewed|mini-?cart|minicart"
    r"|basket|bundle|accessor|suggest|teaser|footer|\bnav|navigation|breadcrumb|compar|shipping|delivery|versand"
    r"|installment|financ|monthly|credit|loyalty|points|coupon|voucher|wishlist|menu|header|popular|bestsell|trending|facet|refine"
    r"|(?<![a-z])filter",
    re.IGNORECASE,
)
OLD_PRICE = re.compile(
    r"(?<![gshfbc])old|was|list-?price|listprice|rrp|msrp|uvp|strike|cross|before|previous|regular|original|retail|reference|std|base-?price|compare"
    r"|conv|swatch|twister|option|save|saving|discount|unit|per-?|instal|monthly|month|shipping|delivery|tax|vat-|min-?price|max-?price|range|from",
    re.IGNORECASE,
)
# Parts that are hidden, possibly until later.
OFF_STAGE = re.compile(
    r"hidden|hide|template|variation|alert|error|image|modal|popup|notify|swatch|tooltip|favou?rit|wish",
    re.IGNORECASE,
)


def mentions(low: str, words: Sequence[str]) -> bool:
    """Whether a lower-case text contains one of the words; faster than any() over a generator."""
    for word in words:  # noqa: SIM110
        if word in low:
            return True
    return False


def kinds_in(lows: Sequence[str], words: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return, for each lower-case text, the kinds of the words it contains."""
    if not lows:
        return []
    joined = "\n".join(lows)
    ends = list(accumulate([len(low) + 1 for low in lows]))
    kinds = [""] * len(lows)
    for kind, own in words:
        places: set[int] = set()
        for word in own:
            at = joined.find(word)
            while at >= 0:
                place = bisect_right(ends, at)
                places.add(place)
                at = joined.find(word, ends[place])
        for place in places:
            kinds[place] += kind
    return kinds
