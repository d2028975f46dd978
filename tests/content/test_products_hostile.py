"""Pages made or broken to hurt: nothing is raised, and what is found is still supported."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messor.content.evidence import NORMALISERS
from messor.content.money import parse_price
from messor.content.page import ParsedPage
from messor.content.products import read_products
from messor.content.products.amazon import read_amazon
from messor.content.records import unsupported
from messor.web.html import TooComplexError
from tests.content.test_products import JSON_LD, VISIBLE

SEEDS = (
    f"<html><head>{JSON_LD}</head><body>{VISIBLE}</body></html>",
    (
        '<h1>Blue Canvas Shoe</h1><div itemscope itemtype="http://schema.org/Product" itemref="r">'
        '<b itemprop="name">Blue Canvas Shoe</b><i itemprop="offers" itemscope><b itemprop="price">5'
        '</b></i></div><p id="r" itemprop="sku">A-1</p>'
    ),
    (
        "<h1>Blue Canvas Shoe</h1><script>dataLayer.push({products: [{'name': 'Blue Canvas Shoe', "
        "'price': '9,90', }]}); x = JSON.parse(\"{\\\"price\\\": 5}\")</script>"
    ),
)
SCRAPS = (
    "<", ">", '"', "'", "\0", "\ud800", "\r\n", "{", "}", "[", "]", "\\", "\\u00", "&#", "&amp;",
    "<!--", "]]>", "</script>", "<script>", "€", "1.", "9" * 50, " itemscope", " itemref=a", ":",
    "http://[", "😀", "ר.س", "</div>", "<template>", "\x1b", "%", "$", "null", "1e999", "-0",
)  # fmt: skip

MANY = 100_000


def mutated(chance: Random) -> str:
    text = chance.choice(SEEDS)
    for _ in range(chance.randint(1, 25)):
        at = chance.randrange(len(text) + 1)
        match chance.randrange(4):
            case 0:
                text = text[:at] + chance.choice(SCRAPS) + text[at:]
            case 1:
                text = text[:at] + text[at + chance.randint(1, 40) :]
            case 2:
                end = at + chance.randint(1, 200)
                text = text[:at] + text[at:end] * chance.randint(2, 4) + text[end:]
            case _:
                other = chance.choice(SEEDS)
                text = text[:at] + other[chance.randrange(len(other)) :]
    return text


@pytest.mark.parametrize("seed", range(20))
def test_mutated_pages_raise_nothing(seed: int) -> None:
    chance = Random(seed)
    for _ in range(20):
        html = mutated(chance)
        page = ParsedPage.read(html, chance.choice(("https://x.example/p/1234567", "", "http://[")))
        for record in (*read_products(page), *read_amazon(page)):
            assert unsupported(record, html) == []
            assert "\0" not in str(record.as_json())


@pytest.mark.parametrize(
    "body",
    [
        f'<p class="price">{"1" * MANY}</p>',
        f'<p class="price">{"1 " * MANY}</p>',
        f'<p class="price">${"1." * MANY}</p>',
        f'<p class="price">{"<a x=" * 20}{chr(34) * 101}</p>',
        '<span class="price">$1.00</span>' * 5_000,
        '<script type="application/ld+json">' + "[" * MANY + "</script>",
        '<script type="application/ld+json">' + "," * MANY + "</script>",
        '<script type="application/ld+json">' + "<!--" * MANY + "</script>",
        '<script type="application/ld+json">{"@type": "Product", "name": "' + "\\" * MANY + "</script>",
        "<script>price " + "={a:" * MANY + "</script>",
        "<script>price " + "={'" * MANY + "</script>",
        "<script>price " + 'JSON.parse("' * MANY + "</script>",
        "<p>SKU:</p>" * 5_000,
        "<b itemscope itemref='a b c' id=a itemprop=name>x</b>" * 400,
    ],
)  # fmt: skip
def test_bait_is_read_or_refused(body: str) -> None:
    try:
        page = ParsedPage.read(f"<h1>Blue Canvas Shoe</h1>{body}", "https://x.example/p/1234567")
    except TooComplexError:
        return
    for record in read_products(page):
        assert unsupported(record, page.html) == []


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_a_price_or_not(text: str) -> None:
    found = parse_price(text, text)
    assert found.amount is None or found.amount >= 0


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["text", "json_ld", "state", "line"]),
    st.sampled_from(
        ["amount", "machine_amount", "shown_amount", "cents", "currency", "availability", "sku",
         "gtin", "rating", "count", "url", "category", "brand", "condition", "trail", "offered"]
    ),
    st.text(max_size=120),
)  # fmt: skip
def test_normalisers_answer_any_quote(source: str, name: str, quote: str) -> None:
    NORMALISERS.value(f"{source}:{name}", quote)
