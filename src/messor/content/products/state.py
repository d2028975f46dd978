"""Products in the embedded state of pages, read as data.

`__NEXT_DATA__`, `window.__STATE__ = {…}`, `dataLayer.push({…})`, `var meta = {…}` and the like are
all JSON values in scripts. The one with the page's heading, or the number in its URL, is the page's
product. No script is executed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from messor.content.page import ParsedPage
from messor.content.products.headings import likeness, words_of
from messor.content.products.numbers import address_numbers
from messor.content.products.pool import CandidatePool, quote_json
from messor.content.products.survey import Survey
from messor.content.structured.json_ld import nodes, raw_json, raw_object, read_json_values

MAX_SCRIPTS = 200
MAX_TOTAL = 3 * 1024 * 1024
MAX_STARTS = 40

MAX_ATTRIBUTES = 50
MAX_ATTRIBUTE = 200_000

_CONFIDENCE = 0.7
_DATA = (
    "data-product", "data-product-data", "data-product-json", "data-gtm-product", "data-ecommerce",
    "data-props", "data-react-props", "data-item", "data-analytics", "data-page", "data-tracking",
)  # fmt: skip
_START = re.compile(r"[=(,:]\s{0,20}(?=[{\[])")
_PARSED = re.compile(r'JSON\.parse\(\s{0,20}(?=")')
_NAMES = ("name", "title", "productName", "product_name", "displayName", "item_name", "label")
_IDS = (
    "sku", "productSku", "product_sku", "itemNumber", "articleNumber", "productCode", "product_code",
    "productId", "product_id", "item_id", "id", "code",
)  # fmt: skip
_PRICES = (
    "salePrice", "sale_price", "currentPrice", "current_price", "finalPrice", "final_price",
    "sellingPrice", "offerPrice", "price", "priceValue", "unitPrice", "lowPrice", "item_price",
)  # fmt: skip
_AMOUNTS = ("value", "amount", "current", "price", "sale", "raw", "min", "centAmount")
_CURRENCIES = ("currency", "currencyCode", "priceCurrency", "currency_code", "currencyIso")
_STOCKS = ("availability", "stockStatus", "stock_status", "availabilityStatus", "inventoryStatus")
_FLAGS = ("inStock", "in_stock", "isInStock", "available", "isAvailable", "is_in_stock", "buyable")
_BRANDS = ("brand", "brandName", "brand_name", "manufacturer", "vendor", "item_brand")
_GTINS = ("gtin13", "gtin", "ean", "ean13", "gtin14", "gtin12", "upc", "barcode", "isbn")
_OFFERED = frozenset(("sku", *_PRICES, *_GTINS, *_FLAGS))  # a product has one of these keys
# A widespread shop system counts in hundredths; these keys next to a price identify it.
_CENTS = frozenset(("price_min", "price_varies", "compare_at_price_max", "compare_at_price_min"))


def read_state(pool: CandidatePool, found: Survey) -> None:
    """Add the page's product from its embedded state to the pool."""
    best: tuple[float, dict[str, Any], str] | None = None
    numbers = address_numbers(pool.page.url)
    for source, value in (*_attribute_states(pool.page), *_states(pool.page)):
        for node in nodes(value):
            score = _score(node, found, numbers)
            if score > 0.6 and (best is None or score > best[0]):
                best = (score, node, source)
    if best is not None:
        _read_node(pool, best[1], best[2])


def _states(page: ParsedPage) -> Iterator[tuple[str, Any]]:
    """Yield JSON values of scripts that mention prices, each with its script's source."""
    budget = MAX_TOTAL
    for element in page.document.select("script:not([src])")[:MAX_SCRIPTS]:
        if "rice" not in element.text or "ld+json" in (element.attr("type") or ""):
            continue
        text = page.inner(element)
        budget -= len(text)
        if budget < 0:
            return
        for value in _values(text):
            yield text, value


def _attribute_states(page: ParsedPage) -> Iterator[tuple[str, Any]]:
    """Yield JSON values of dedicated attributes."""
    for element in page.document.select(",".join(f"[{name}]" for name in _DATA))[:MAX_ATTRIBUTES]:
        for name in _DATA:
            given = element.attr(name)
            if given and given.lstrip()[:1] in ("{", "[") and len(given) <= MAX_ATTRIBUTE:
                for value in read_json_values(given):
                    yield page.attribute(element, name), value


def _values(text: str) -> Iterator[Any]:
    if text.lstrip()[:1] in ("{", "["):
        yield from read_json_values(text)
        return
    for match in list(_PARSED.finditer(text))[:MAX_STARTS]:
        held = raw_json(text, match.end())
        if held is not None and isinstance(held[0], str):
            yield from read_json_values(held[0])
    end = starts = 0
    for match in _START.finditer(text):
        if match.end() < end:
            continue
        starts += 1
        if starts > MAX_STARTS:
            return
        held = raw_json(text, match.end()) or raw_object(text, match.end())
        if held is not None:
            value, end = held
            yield value


def _score(node: dict[str, Any], found: Survey, numbers: Mapping[str, float]) -> float:
    """Return how well an object matches the page's product."""
    if _OFFERED.isdisjoint(node):  # true of most objects
        return 0.0
    price = next((node[key] for key in _PRICES if node.get(key)), None)
    if price is None and not any(node.get(key) for key in ("sku", *_GTINS, *_FLAGS)):
        return 0.0
    name = next((node[key] for key in _NAMES if isinstance(node.get(key), str)), "")
    own = words_of(name)
    alike = (
        likeness(own, found.title) if len(own & found.title) >= min(2, len(found.title)) else 0.0
    )
    named = any(str(node.get(key)) in numbers for key in _IDS if node.get(key))
    return 0.7 * alike + (0.65 if named else 0.0) + (0.2 if price is not None else 0.0)


def _read_node(pool: CandidatePool, node: dict[str, Any], source: str) -> None:
    def add(name: str, key: str, value: Any, share: float = 1.0, normaliser: str = "") -> bool:
        quote = quote_json(source, key, value)
        made = pool.add(
            name, "state", quote, _CONFIDENCE * share, path=key, normaliser=normaliser or None
        )
        return made is not None

    def first(name: str, keys: tuple[str, ...], normaliser: str = "") -> None:
        for number, given in enumerate(keys):
            key, value = given, node.get(given)
            if isinstance(value, dict):
                key, value = next(
                    ((k, value[k]) for k in ("name", "value") if k in value), (key, None)
                )
            usable = isinstance(value, (str, bool)) and value != ""
            if usable and add(name, key, value, 1.1 - 0.04 * min(number, 8), normaliser):
                return

    first("product_name", _NAMES)
    first("sku", _IDS)
    first("mpn", ("mpn",))
    first("brand", _BRANDS)
    first("gtin", _GTINS)
    first("currency", _CURRENCIES)
    first("availability", _STOCKS)
    first("availability", _FLAGS)
    _read_price(node, add)


def _read_price(node: dict[str, Any], add: Callable[..., bool]) -> None:
    kind = "cents" if not _CENTS.isdisjoint(node) else "machine_amount"
    for given in _PRICES:
        key, value = given, node.get(given)
        if isinstance(value, dict):
            for currency in _CURRENCIES:
                if isinstance(value.get(currency), str):
                    add("currency", currency, value[currency])
            key = next((k for k in _AMOUNTS if isinstance(value.get(k), str)), "")
            kind = "cents" if key == "centAmount" else kind
            value = value.get(key)
        if isinstance(value, str) and value and add("price", key, value, 1.0, kind):
            return
