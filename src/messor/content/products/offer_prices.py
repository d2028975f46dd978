"""Published offer prices: prices and currencies in structured data.

A price specification may be a former price, a member price or a unit price; these count less than
the regular price of the whole.
"""

from __future__ import annotations

import re

from messor.content.evidence import EvidencedField
from messor.content.money import NO_DECIMALS, THREE_DECIMALS
from messor.content.products.normalise import currency
from messor.content.products.pool import CandidatePool
from messor.content.products.things import PublishedThing

# Comparison prices, and their weight as the selling price.
_COMPARED = ("listprice", "strikethroughprice", "msrp", "srp")
_COMPARED_SHARE = 0.7
# Unit prices and member prices.
_PARTIAL = ("referenceQuantity", "validForMemberTier")
_PARTIAL_SHARE = 0.8
# Thousands if written by people, three decimals if written by programs.
_EITHER = re.compile(r"(?<![\d.,])[1-9]\d{0,2}\.\d{3}(?![\d.,])")
_AS_DECIMALS, _AS_THOUSANDS = 0.83, 0.78


def read_offer_price(
    pool: CandidatePool, priced: PublishedThing, confidence: float
) -> EvidencedField | None:
    """Add the price and currency of an offer or price specification to the pool."""
    source, path = priced.source, priced.path
    code = priced.text("priceCurrency")
    price = priced.text("price", "lowPrice", "minPrice")
    made = None
    if price:
        name, share = _meant(priced)
        kind = "machine_amount" if source == "json_ld" else _amount_kind(price)
        way = f"{path}.price"
        if name == "list_price":
            pool.add(name, source, price, confidence, path=way, normaliser=kind)
        if kind == "machine_amount":
            made = add_price(pool, source, price, confidence * share, path=way, code=code)
        else:
            made = pool.add("price", source, price, confidence * share, path=way, normaliser=kind)
    if code:
        pool.add("currency", source, code, confidence, path=f"{path}.priceCurrency")
    return made


def add_price(
    pool: CandidatePool, source: str, quote: str, confidence: float, *, path: str, code: str = ""
) -> EvidencedField | None:
    """Add a machine-written price to the pool; returns its most likely reading.

    A price such as 18.990 is ambiguous unless its currency decides; then the visible price does.
    """
    if not _EITHER.search(quote):
        return pool.add("price", source, quote, confidence, path=path)
    named = currency(code.rpartition(":")[2].strip(" \"'")) if code else None
    if named in THREE_DECIMALS:
        return pool.add("price", source, quote, confidence, path=path)
    if named in NO_DECIMALS:
        return pool.add("price", source, quote, confidence, path=path, normaliser="amount")
    made = pool.add("price", source, quote, confidence * _AS_DECIMALS, path=path)
    pool.add("price", source, quote, confidence * _AS_THOUSANDS, path=path, normaliser="amount")
    return made


def _meant(priced: PublishedThing) -> tuple[str, float]:
    """Return whether a price is the selling price or a list price, and its weight."""
    kind = priced.text("priceType").rstrip("\"'/ ").lower()
    if kind.endswith(_COMPARED):
        return "list_price", _COMPARED_SHARE
    if any(term in priced.stated for term in _PARTIAL):
        return "price", _PARTIAL_SHARE
    return "price", 1.0


def _amount_kind(quote: str) -> str:
    return (
        "shown_amount"
        if "<" in quote or not quote.strip().replace(".", "").isdigit()
        else "machine_amount"
    )
