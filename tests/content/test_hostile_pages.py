"""Hostile pages: readers raise nothing, invent nothing, and take no page's word for its structure."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messor.content.kinds import KINDS, find_records
from messor.content.metadata import read_metadata
from messor.content.page_type import TYPES, page_type
from messor.content.records import unsupported
from messor.content.view import PageView
from messor.web.html import TooComplexError
from tests.content.views import corpus_pages

PIECES = [
    "<p>", "</p>", "<div>", "</div>", "<h1>", "<h3>Why is that so?</h3>", "<table><tr><td>", "</td><td>",
    "<dt>Deadline</dt><dd>", "<li>", "<a href='mailto:a&#64;b.de'>", "<a href=tel:+493012345678>",
    '<a href="', "</a>", "<form><textarea name=m></textarea><input type=email>", "</form>", "<button>",
    "<script type='application/ld+json'>", "</script>", '{"@type":"Person","name":"A \\u00e9"}',
    '{"@type":["Event",5,null],"startDate":{"@value":"2026-01-01"},"name":[{"@value":"x"},"y"]}',
    '{"@graph":[{"@id":"#a","@type":"Organization","name":"A&amp;B","address":{"@id":"#a"}}]}',
    '<b itemscope itemtype="http://schema.org/Person"><i itemprop="name telephone">', "</i></b>",
    '<b typeof="Event" property="name">', "Tel: +49 30 123456", "030 1234567", "info (at) acme (dot) de",
    "Mon-Fri 9:00-17:00", "opening hours", "20% off until 31 May 2026", "€ 1.234,50", "Soup 4,90 €",
    "Hauptstr. 12", "10115 Berlin", "Anna Schmidt", "Grant", "amount: 5000 EUR", "Book now", "&amp;",
    "&#x110000;", "&nbsp;", "\r\n", "\x00", "\ufeff", "\u202e", "\ud800", "ﬁ", "İ", "<!--", "-->", "<svg>", "<",
    "<template>", "<select><option>", "<textarea>", "</body>", "<title>", "<meta property=og:title content=",
]  # fmt: skip


def check(text: str, url: str = "https://acme.de/") -> None:
    try:
        page = PageView.of(text, url)
    except TooComplexError:
        return
    read_metadata(page).as_json()
    assert page_type(page).name in TYPES
    for record in find_records(page):
        assert unsupported(record, text) == []
        assert KINDS[record.kind].problems(record) == []


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=60))
def test_any_markup(pieces: list[str]) -> None:
    check("".join(pieces))


@pytest.mark.parametrize("path", ["", "faq", "menu", "leistungen", "kontakt", "events/x", "jobs/x"])
def test_random_pages_of_every_type(path: str) -> None:
    chance = random.Random(path)
    for _ in range(30):
        check("".join(chance.choices(PIECES, k=120)), f"https://acme.de/{path}")


@pytest.mark.parametrize(
    "piece",
    [
        "a@", "a(at)b", "@", "+49 30 ", "(0", "1 ", "<p>Tel +49 30 1</p>", "Mon-Fri 9-17 ", "&amp;", "Aa ",
        "<h3>What is it then?</h3>", "<p>amount: 5 €</p>", "<a href=/x>Book now</a>", "a<br>", "<p>x",
        "<b itemprop=name>", "<i itemscope itemtype=Person>", "\r\n", "<!--", "20% ", "<td>1,00 €",
    ],
)  # fmt: skip
def test_large_pages(piece: str) -> None:
    check(piece * (200_000 // len(piece)))


def test_urls_of_all_sorts() -> None:
    for url in (
        "",
        "x",
        "https://",
        "http://[::1]/%ff?q=%",
        "https://ä.de/über?page=2#x",
        "data:text/html,x",
    ):
        check("<title>x</title><p>Tel: 030 1234567</p>", url)


@pytest.mark.parametrize("name", ["articles", "products"])
def test_broken_external_pages(name: str) -> None:
    chance = random.Random(name)
    for url, text in list(corpus_pages(name))[::6]:
        begin = chance.randrange(len(text))
        check(text[begin : begin + 60_000], url)
