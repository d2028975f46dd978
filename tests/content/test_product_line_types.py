"""What is remembered of texts, and what is looked for in many at a time, is what each alone tells."""

from __future__ import annotations

import random
import re

import pytest

from messor.content.memory import Memory
from messor.content.page import ParsedPage
from messor.content.products.line_types import (
    OTHER,
    STOCK,
    labels_and_reviews,
    stock_notes_and_others,
)
from messor.content.products.normalise import availability
from messor.content.products.pool import quote_json
from messor.content.products.words import OTHERS, kinds_in, mentions
from messor.content.view import PageView
from messor.parsers.builtin import PRODUCTS

LINES = (
    "In stock", "in  stock", "IN-STOCK", "http://schema.org/InStock", "http://schema.org/InStock/ /",
    "yes-/", "no", "y e s", "Sold out", "3 in stock", "Nicht verfügbar", "Similar products", "Detail",
    "Related: in stock", "available " * 5, "You may also like " + "it " * 20, "12.40", "", "-", "/", "Köp",
)  # fmt: skip


def test_words_are_found_in_many_texts_as_in_each() -> None:
    source = random.Random(1)
    words = (("x", ("ab", "b c")), ("y", ("c",)))
    texts = ["".join(source.choices("abc \n", k=source.randrange(6))) for _ in range(200)]
    expected = ["".join(kind for kind, own in words if mentions(text, own)) for text in texts]
    assert kinds_in(texts, words) == expected
    assert kinds_in([], words) == []


def test_lines_behind_a_heading_speak_of_stock_and_of_others_as_each_alone_does() -> None:
    lines = {line.strip() for line in LINES}
    expected = {}
    for line in lines:
        is_note = len(line) <= 40 and availability(line) is not None and not re.search(r"\d", line)
        heads = len(line) < 60 and mentions(line.lower(), OTHERS)
        if is_note or heads:
            expected[line] = (STOCK if is_note else "") + (OTHER if heads else "")
    assert expected["yes-/"] == STOCK
    assert expected["Related: in stock"] == STOCK + OTHER
    memory = Memory()
    for _ in range(2):
        assert stock_notes_and_others(lines, memory) == expected


def test_labels_and_reviews_are_told_whatever_white_space_is_around_them() -> None:
    texts = {
        "\n  SKU: 4711", "\xa0Brand:\xa0Acme ", "# Item no", "id", "4.5 out of 5", "\t12 reviews\n",
        "12.40", "Skunk", "Sku " * 40, " ", "",
    }  # fmt: skip
    expected = {
        "SKU: 4711": "sku", "Brand:\xa0Acme": "brand", "# Item no": "item no", "id": "id",
        "4.5 out of 5": "rating", "12 reviews": "review_count",
    }  # fmt: skip
    memory = Memory()
    for _ in range(2):
        assert labels_and_reviews(texts, memory) == expected


@pytest.mark.parametrize(
    "source, quote",
    [
        ('{"name": "A lamp"}', '"name": "A lamp"'),
        ('{"name":"A lamp"}', '"name":"A lamp"'),
        ('{\\"name": "A lamp"}', '\\"name": "A lamp"'),
        ('{"surname": "A lamp", "name" : "A lamp"}', '"name" : "A lamp"'),
        ('{"title": "A lamp", "name":"A lamp"}', '"name":"A lamp"'),
        ('{"name": "A lamp in red", "name": "A lamp"}', '"name": "A lamp"'),
        ('"name": "A lamp"', '"name": "A lamp"'),
        ("{'name': 'A lamp'}", "'name': 'A lamp'"),
    ],
)
def test_a_key_and_its_value_are_quoted_as_they_are_written(source: str, quote: str) -> None:
    assert quote_json(source, "name", "A lamp") == quote


def test_only_the_kinds_that_are_wanted_are_made() -> None:
    offers = ",".join(
        f'{{"@type": "Offer", "sku": "A-{n}", "price": "{n}.50", "priceCurrency": "EUR"}}'
        for n in (1, 2)
    )
    html = (
        '<title>Lamp</title><script type="application/ld+json">{"@type": "Product", "name": "Lamp",'
        f' "image": "https://x.test/a.png", "offers": [{offers}]}}</script><h1>Lamp</h1>'
    )
    page = PageView(ParsedPage.read(html, "https://x.test/lamp"))
    whole = PRODUCTS.parse(page)
    assert {record.kind for record in whole} == {"product", "product_offer", "image"}
    for kinds in ({"product"}, {"product_offer"}, {"image", "product"}, {"product_variant"}):
        assert PRODUCTS.parse_only(page, kinds) == [each for each in whole if each.kind in kinds]
