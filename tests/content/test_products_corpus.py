"""Products of external pages, held against what people accept; every field held against its page."""

from __future__ import annotations

import pytest
from bench.products import Case, Scores, load_cases, product_of, score

from messor.content.kinds import KINDS
from messor.content.page import ParsedPage
from messor.content.products import read_products
from messor.content.products.amazon import is_amazon, read_amazon
from messor.content.records import Record, unsupported

PRICE, SKU, AVAILABILITY = 0.92, 0.95, 0.80


def check(records: list[Record], html: str) -> None:
    """Every field is supported by the page, and every record is as its schema has it."""
    for record in records:
        assert unsupported(record, html) == []
        assert KINDS[record.kind].problems(record) == []


def cases(name: str) -> list[Case]:
    found = load_cases(name)
    if not found:
        pytest.skip(f"the external cases ({name}_zyte.json) are not here")
    return found


def test_products_reach_the_bars() -> None:
    answers: list[tuple[Case, Record | None]] = []
    for case in cases("products"):
        found = read_products(ParsedPage.read(case.html, case.url))
        check(found, case.html)
        answers.append((case, product_of(found)))
    scores = score(answers)
    assert scores.tally("price").f1 >= PRICE, scores
    assert scores.tally("sku").f1 >= SKU, scores
    assert scores.availability >= AVAILABILITY, scores


def test_the_family_of_amazon_is_supported_as_well() -> None:
    pages = [case for case in cases("products") if is_amazon(case.url)]
    answers: list[tuple[Case, Record | None]] = []
    for case in pages:
        found = read_amazon(ParsedPage.read(case.html, case.url))
        check(found, case.html)
        answers.append((case, product_of(found)))
    assert score(answers).tally("price").f1 >= PRICE
    assert score(answers).tally("sku").f1 >= SKU


def test_no_article_is_a_product() -> None:
    for case in cases("articles"):
        assert read_products(ParsedPage.read(case.html, case.url)) == [], case.url


def test_the_score_counts_right_wrong_and_missing() -> None:
    accepted = {
        "price": ["5"],
        "sku": [],
        "brand": ["A-1"],
        "gtin": [],
        "availability": ["InStock"],
    }
    scores: Scores = score([(Case("", "", accepted), None)])
    assert (scores.tally("price").missing, scores.tally("price").f1) == (1, 0.0)
    assert scores.tally("sku").missing == 0
    assert scores.tally("in_stock").missing == 1
