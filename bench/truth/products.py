"""Products on Zyte's pages, field by field, and what is read of prices alone on price-parser's strings."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from bench.products import STATES, Case, Scores, Tally, load_cases, product_of, score
from bench.truth.corpora import SLICES, by_slice, load_rows, slice_of
from bench.truth.report import Cell, Section, Table

from messor.content.memory import Memory
from messor.content.money import parse_price
from messor.content.page import ParsedPage
from messor.content.products import read_products
from messor.content.records import Record

_FIELDS = ("price", "sku", "brand", "gtin")


def measure() -> Section | None:
    """Score the first product of each page."""
    cases, memory = load_cases(), Memory()
    if not cases:
        return None
    read = [(case, _product(case, memory)) for case in cases]
    slices = by_slice((slice_of(case.url), pair) for case, pair in zip(cases, read, strict=True))
    rows = [row for name in SLICES for row in _rows(name, slices[name])]
    rows += _rows("both", read)
    articles = sum(_product(case, memory) is not None for case in load_cases("articles"))
    return Section(
        "Products (Zyte)",
        "The first product record counts; site-specific parsers are off. Nearly everything is in stock, so"
        " availability is the mean F1 of its two states, and one wrong page moves it by a tenth.",
        Table(("slice", "field", "stated", "precision", "recall", "F1"), tuple(rows)),
        Table(("articles", "taken for products"), ((len(load_cases("articles")), articles),)),
    )


def _product(case: Case, memory: Memory) -> Record | None:
    return product_of(read_products(ParsedPage.read(case.html, case.url, memory=memory)))


def _rows(slice_: str, read: list[tuple[Case, Record | None]]) -> Iterable[tuple[Cell, ...]]:
    found: Scores = score(read)
    for name in (*_FIELDS, *STATES):
        tally: Tally = found.tally(name)
        stated = tally.right + tally.missing
        yield slice_, name, stated, tally.precision, tally.recall, tally.f1
    yield slice_, "availability", len(read), None, None, found.availability


def measure_prices() -> Section | None:
    """Score amounts and currencies of short texts."""
    cases = load_rows("price_strings.jsonl")
    if not cases:
        return None
    readers: dict[str, Callable[[dict[str, Any]], tuple[Decimal | None, str | None]]] = {
        "messor": _own_price
    }
    if importlib.util.find_spec("price_parser"):
        readers["price-parser"] = _peer_price
    rows = []
    for name, reader in readers.items():
        pairs = [(case, reader(case)) for case in cases]
        amounts = sum(amount == _amount(case) for case, (amount, _) in pairs)
        both = sum(
            (amount, sign) == (_amount(case), case["currency"]) for case, (amount, sign) in pairs
        )
        rows.append((name, len(cases), amounts, both))
    return Section(
        "Prices (price-parser's strings)",
        "Texts whose amount, and whose amount and currency as written, are those expected.",
        Table(("reader", "texts", "amount", "amount and currency"), tuple(rows)),
    )


def _amount(case: dict[str, Any]) -> Decimal | None:
    return None if case["amount"] is None else Decimal(case["amount"])


def _own_price(case: dict[str, Any]) -> tuple[Decimal | None, str | None]:
    found = parse_price(case["price_text"], case["currency_hint"], case["decimal_separator"])
    return found.amount, found.sign


def _peer_price(case: dict[str, Any]) -> tuple[Decimal | None, str | None]:
    price = importlib.import_module("price_parser").Price.fromstring(
        case["price_text"],
        currency_hint=case["currency_hint"],
        decimal_separator=case["decimal_separator"],
    )
    return price.amount, price.currency
