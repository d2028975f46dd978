"""Normalisers of product fields: amounts, currencies, stock, article numbers, ratings."""

# ruff: noqa: RUF001 - homoglyphs of Latin letters are intended

from __future__ import annotations

import re
from decimal import Decimal

from messor.content.evidence import NORMALISERS
from messor.content.money import currency_code, parse_price
from messor.content.plain import from_html, one_space
from messor.content.products.words import IN_STOCK, OUT_OF_STOCK, PREORDER, STATES, mentions

MAX_AMOUNT = Decimal(10) ** 11
_MAX_SKU = 100

_PLAIN_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,6})?")
# Programs often write large amounts in scientific notation: 1.25E7.
_MACHINE_NUMBER = re.compile(
    r"\s*-?\d{1,13}(?:\.\d{1,10})?\s*|\s*\d{1,13}(?:\.\d{1,17})?[eE][+-]?\d{1,3}\s*"
)
# At the edge of a link or heading one text ends and another starts: those are two numbers.
_TAGS_BETWEEN_DIGITS = re.compile(
    r"(?<=\d)((?:\s*+<(?!/?(?:a|h[1-6]|li|label|time)[\s>])[^<>]{0,300}>)++)\s*(?=\d\d(?!\d))",
    re.IGNORECASE,
)
_HIDDEN = re.compile(
    r"<(script|style|template|noscript)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_STRUCK = re.compile(r"<(s|del|strike)\b[^<>]{0,300}>.{0,300}?</\1>", re.DOTALL)
_DIGIT = re.compile(r"\d")
_ID_KIND = re.compile(r"^(?:sku|mpn|isbn|ean|gtin|upc|asin|id)\s?:\s?", re.IGNORECASE)
# "Visit the X Store", "Brand: X" and the like.
_BYLINE = re.compile(
    r"(?:visit the|besuchen sie den|visitez la boutique|visita lo store di|visita la tienda de"
    r"|visite a loja|bezoek de|(?:brand|marke|hersteller|marque|marca|merk|märke|marka|značka|бренд"
    r"|manufacturer|ブランド|品牌) ?[:：])\s*(?P<name>.{1,100}?)(?:[ -](?:store|winkel))?$",
    re.IGNORECASE,
)
_NOT_GTIN = re.compile(r"[\s.,;:-]")
_TAG = re.compile(r"<[^<>]{0,2000}>")
_OLD_CODES = {"RUR": "RUB", "BYR": "BYN"}
# In this order: a preorder product is often called available from a day on.
_PHRASES = (("out_of_stock", OUT_OF_STOCK), ("preorder", PREORDER), ("in_stock", IN_STOCK))
_NOTHING = frozenset(("null", "none", "undefined", "n/a", "na", "-", "unknown", "false", "true"))
_RATING = re.compile(r"(\d{1,3}(?:[.,]\d{1,4})?)")
# "8.4/10", "4 out of 5 stars", "4,5 von 5".
_OF_BEST = re.compile(
    r"(\d{1,3}(?:[.,]\d{1,4})?)\s{0,3}(?:/|out of|of|von|sur|de|su|van|av|af|z|из)\s{0,3}(100|10|5|20|6)(?![\d.,])"
)
_AFTER_NAME = r"[\"']?[^\d<>]{0,60}>?[^\d<>]{0,60}(\d{1,3}(?:[.,]\d{1,4})?)"
_RATING_VALUE = re.compile(rf"ratingValue{_AFTER_NAME}")
_BEST_RATING = re.compile(rf"bestRating{_AFTER_NAME}")
MAX_RATING = 5
_COUNT = re.compile(r"\d{1,3}(?:[.,\s]\d{3})+|\d{1,9}")


def number(amount: Decimal | None) -> int | float | None:
    """Return an amount as a JSON number; None if it is not a price."""
    if amount is None or not 0 <= amount < MAX_AMOUNT:
        return None
    return int(amount) if amount == amount.to_integral_value() else float(round(amount, 6))


def amount(text: str) -> int | float | None:
    """Parse an amount written for people: 1.299 is more than a thousand."""
    return number(parse_price(one_space(text)).amount)


def machine_amount(text: str) -> int | float | None:
    """Parse an amount written by programs: 1.299 is little more than one."""
    if _PLAIN_NUMBER.fullmatch(text):  # the usual form, which needs no rounding
        whole, _, rest = text.partition(".")
        return float(text) if rest.strip("0") else int(whole)
    if _MACHINE_NUMBER.fullmatch(text):
        return number(Decimal(text.strip()))
    return amount(text)


def cents(text: str) -> int | float | None:
    """Parse an amount in hundredths."""
    return number(Decimal(text.strip()) / 100) if _MACHINE_NUMBER.fullmatch(text) else None


def shown_amount(quote: str) -> int | float | None:
    """Parse a price laid out with tags, where small digits after large ones are the decimals."""
    if "<" not in quote:
        return amount(from_html(quote))
    quote = _HIDDEN.sub(" ", quote)
    if "</s>" in quote or "</del>" in quote or "</strike>" in quote:
        current = _STRUCK.sub(" ", quote)  # unless nothing else remains
        quote = current if _DIGIT.search(from_html(current)) else quote
    if not _TAGS_BETWEEN_DIGITS.search(quote):
        return amount(from_html(quote))
    return amount(from_html(_TAGS_BETWEEN_DIGITS.sub(".", quote, count=1)))


def currency(text: str) -> str | None:
    """Return the ISO code of the only currency a text names."""
    code = parse_price(text).code or currency_code(text)
    return _OLD_CODES.get(code, code) if code else None


def condition(text: str) -> str | None:
    """Return new, used, refurbished or damaged, from schema.org terms or plain words."""
    name = one_space(text).rstrip("/").rpartition("/")[2].lower().removesuffix("condition")
    return name if name in ("new", "used", "refurbished", "damaged") else None


def trail(quote: str) -> str | None:
    """Return the steps of a breadcrumb, without separators."""
    steps = [
        one_space(step) for step in from_html(_TAG.sub("\n", _HIDDEN.sub(" ", quote))).split("\n")
    ]
    named = [step for step in steps if any(c.isalnum() for c in step)]
    return " > ".join(dict.fromkeys(named))[:255] if 0 < len(named) <= 12 else None


def availability(text: str) -> str | None:
    """Return in_stock, out_of_stock, preorder, backorder, discontinued, in_store_only or limited."""
    plain = one_space(text).lower()
    name = re.sub(r"[\s_-]", "", plain.rstrip("/").rpartition("/")[2])
    if name in STATES:
        return STATES[name]
    for state, phrases in _PHRASES:
        if mentions(plain, phrases):
            return state
    return None


def offered(text: str) -> str | None:
    """Treat a page with a price and no statement to the contrary as an offer."""
    return None if shown_amount(text) is None else "in_stock"


def sku(text: str) -> str | None:
    plain = one_space(text)
    plain = (_ID_KIND.sub("", plain) if ":" in plain else plain).strip(" :#.,;()[]\"'")
    if (
        plain.lower() in _NOTHING
        or not 1 <= len(plain) <= _MAX_SKU
        or not any(map(str.isalnum, plain))
    ):
        return None
    return plain


def gtin(text: str) -> str | None:
    """Return a GTIN with a valid check digit; a ten-digit ISBN is kept as is."""
    digits = _NOT_GTIN.sub("", _ID_KIND.sub("", text.strip()))
    if len(digits) == 10 and re.fullmatch(r"\d{9}[\dXx]", digits):
        weighted = sum((10 - n) * (10 if c in "Xx" else int(c)) for n, c in enumerate(digits))
        return digits.upper() if weighted % 11 == 0 else None
    if not re.fullmatch(r"\d{8}|\d{12,14}", digits, re.ASCII) or len(set(digits)) == 1:
        return None
    total = sum(int(c) * (3 if n % 2 else 1) for n, c in enumerate(reversed(digits)))
    return digits if total % 10 == 0 else None


def rating(text: str) -> float | None:
    """Return a rating of 0 to 5; one such as 8.4/10 is converted."""
    of_best = _OF_BEST.search(text)
    if of_best is not None:
        return _scaled(of_best[1], of_best[2])
    match = _RATING.search(text)
    return _scaled(match[1], "5") if match is not None else None


def scaled_rating(quote: str) -> float | None:
    """Return the rating of 0 to 5 that a piece of structured data with `bestRating` states."""
    value, best = _RATING_VALUE.search(quote), _BEST_RATING.search(quote)
    return _scaled(value[1], best[1]) if value is not None and best is not None else None


def _scaled(value: str, best: str) -> float | None:
    given, most = (float(each.replace(",", ".")) for each in (value, best))
    if most <= 0 or not 0 <= given <= most:
        return None
    return given if most == MAX_RATING else round(given / most * MAX_RATING, 2)


def count(text: str) -> int | None:
    match = _COUNT.search(text)
    return int(re.sub(r"[.,\s]", "", match[0])) if match is not None else None


def url(text: str) -> str | None:
    plain = text.strip()
    return (
        plain[:2_000] if plain and not plain.lower().startswith(("data:", "javascript:")) else None
    )


def category(text: str) -> str | None:
    return one_space(re.sub(r"\s*[>›»/|]\s*", " > ", one_space(text)))[:255] or None


def brand(text: str) -> str | None:
    plain = one_space(text)
    match = _BYLINE.match(plain)
    plain = (match["name"] if match is not None else plain).strip(" :,;|-")
    if plain.startswith(("$", "{", "[", "by ", "By ")) or plain.lower() in _NOTHING:
        return None
    return plain if 1 <= len(plain) <= 100 and any(c.isalnum() for c in plain) else None


for _name, _normalise in {
    "amount": amount, "machine_amount": machine_amount, "cents": cents, "currency": currency,
    "availability": availability, "sku": sku, "gtin": gtin, "rating": rating, "count": count,
    "url": url, "category": category, "brand": brand, "condition": condition,
}.items():  # fmt: skip
    NORMALISERS.add(_name, _normalise)
NORMALISERS.add("scaled_rating", scaled_rating, raw=True)
NORMALISERS.add("shown_amount", shown_amount, raw=True)
NORMALISERS.add("offered", offered, raw=True)
NORMALISERS.add("trail", trail, raw=True)
