"""What is asked for a product, as it is published for machines: prices and their currencies.

Specifications of a price may state what was asked before, what members pay, or what a unit costs;
they count less than what everybody pays for the whole.
"""

from __future__ import annotations

import re

from messor.content.currencies import NO_DECIMALS, THREE_DECIMALS
from messor.content.evidence import EvidencedField
from messor.content.products.normalise import currency
from messor.content.products.pool import CandidatePool
from messor.content.products.things import PublishedThing

# Prices by which others are to look small, and how much they count as what is asked.
_COMPARED = ("listprice", "strikethroughprice", "msrp", "srp")
_COMPARED_SHARE = 0.7
# Prices of a unit and of members alone.
_PARTIAL = ("referenceQuantity", "validForMemberTier")
_PARTIAL_SHARE = 0.8
# Thousands, if people wrote it, and three decimals, if programs did.
_EITHER = re.compile(r"(?<![\d.,])[1-9]\d{0,2}\.\d{3}(?![\d.,])")
_AS_DECIMALS, _AS_THOUSANDS = 0.83, 0.78


def read_offer_price(
    pool: CandidatePool, priced: PublishedThing, confidence: float
) -> EvidencedField | None:
    """Take the price and the currency of an offer, or of a specification, into the pool."""
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
    """Take a price into the pool that a program wrote; answers what it most likely means.

    One such as 18.990 may be either, unless its currency tells; what people see decides.
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
    """Whether a price is the one that is asked or one to compare it with, and how much it counts."""
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
