"""What is left out because a site's pages repeat it would have told nothing."""

from __future__ import annotations

import random

import pytest

from messor.content.memory import Memory
from messor.content.page import ParsedPage
from messor.content.products import named
from messor.content.products.choose import chosen_fields
from messor.content.products.generic import gather, read_products
from messor.content.products.line_types import (
    all_line_types,
    labels_and_reviews,
    stock_notes_and_others,
)
from messor.content.products.named import KnownSites, Parts
from messor.content.products.survey import Survey

# Some tell nothing, some do, some look like a selector.
CLASSES = (
    "card", "card card--wide", "card-price", "in-stock", "Brand", "sku", "btn", " card", "card ",
    "x\ty", 'card"],[class="stock', "card\\", "card]", "präsent", "", "breadcrumb", "CARD", "0 1",
)  # fmt: skip
IDS = ("dull", "stock", "brand-1", "sku", "main")
KINDS = ("stocks", "numbers", "trails", "brands", "buttons")


@pytest.fixture
def memory() -> Memory:
    return Memory()


def element(source: random.Random, names: list[str]) -> str:
    tag = source.choice(("a", "p", "li", "button"))
    own = f' id="{source.choice(IDS)}"' if source.random() < 0.05 else ""
    given = source.choice(names).replace('"', "&quot;")
    return f'<{tag} class="{given}"{own}></{tag}>'


def told(parts: Parts) -> list[object]:
    return [getattr(parts, kind) for kind in KINDS] + [parts.prices]


@pytest.mark.parametrize("seed", range(60))
def test_parts_are_the_same_whatever_is_known_of_the_site(seed: int, memory: Memory) -> None:
    source = random.Random(seed)
    for number in range(6):
        often = source.sample(CLASSES, k=3)
        rare = source.sample(CLASSES, k=5)
        names = [*(often * 10), *rare]
        html = "".join(element(source, names) for _ in range(source.choice((10, 200, 400))))
        document = ParsedPage.read(html).document
        expected = told(Parts(document, memory))
        for prices in (True, False):
            parts = Parts(document, memory, "shop.example", prices=prices, long=number % 2 == 0)
            assert told(parts) == expected
    known = memory.part(KnownSites).of("shop.example", prices=True)
    assert known is not None
    assert known.others


def test_a_class_that_tells_a_price_is_left_out_only_where_none_is_wanted(memory: Memory) -> None:
    document = ParsedPage.read('<li class="card-price">4.50</li>' * 200).document
    for prices in (True, False):
        Parts(document, memory, "shop.example", prices=prices)
    with_prices, without = (
        memory.part(KnownSites).of("shop.example", prices=each) for each in (True, False)
    )
    assert with_prices is not None
    assert without is not None
    assert (with_prices.others, without.others) == ("", '[class]:not([class="card-price"]),[id]')
    spared = Parts(document, memory, "shop.example", prices=False)
    assert len(spared._elements) == 0
    assert len(spared.prices) == 200


def test_an_element_of_a_crowd_is_known_by_its_id(memory: Memory) -> None:
    crowd = '<p class="card"></p>' * 200
    document = ParsedPage.read(f'{crowd}<p class="card" id="stock">Sold out</p>{crowd}').document
    for _ in range(2):
        assert [each.text for each in Parts(document, memory, "a.example").stocks] == ["Sold out"]
    known = memory.part(KnownSites).of("a.example", prices=True)
    assert known is not None
    assert known.others


def test_no_more_elements_are_looked_at_because_some_are_left_out(
    monkeypatch: pytest.MonkeyPatch, memory: Memory
) -> None:
    monkeypatch.setattr(named, "MAX_ELEMENTS", 150)
    crowd = '<p class="card"></p>' * 100
    for site in ("", "a.example", "a.example"):
        document = ParsedPage.read(f'{crowd}<p class="stock">In</p>').document
        assert len(Parts(document, memory, site).stocks) == 1
        document = ParsedPage.read(f'{crowd}{crowd}<p class="stock">In</p>').document
        assert len(Parts(document, memory, site).stocks) == 0


def test_what_is_known_of_sites_is_bounded(memory: Memory) -> None:
    document = ParsedPage.read('<p class="card"></p>' * 100).document
    for number in range(2 * KnownSites.limit):
        Parts(document, memory, f"{number}.example")
    assert len(memory.part(KnownSites)) <= KnownSites.limit
    assert memory.part(KnownSites).of("x" * 1_000, prices=True) is None
    many = [
        f'<p class="{"x" * 20}{number % 5}{page}"></p>' for page in range(9) for number in range(90)
    ]
    for page in range(9):
        Parts(
            ParsedPage.read("".join(many[90 * page : 90 * page + 90])).document,
            memory,
            "many.example",
        )
    long = "y" * 100
    Parts(ParsedPage.read(f'<p class="{long}"></p>' * 200).document, memory, "long.example")
    known, other = (
        memory.part(KnownSites).of(site, prices=True) for site in ("many.example", "long.example")
    )
    assert known is not None
    assert other is not None
    assert (len(known._classes), known._tries, other.others) == (
        named._MAX_CLASSES,
        2,
        "",
    )


LINES = (
    "In stock", "\xa0In stock\u2003", "Sold out", "Only 3 left", "Similar products", "SKU: 4711", "word",
    "4.5 out of 5", "12 reviews", "Brand", "Related: in stock", "<script>In stock</script>", "x" * 301,
)  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_repeated_notes_on_stock_change_nothing(seed: int) -> None:
    source = random.Random(seed)
    weights = [source.choice((0.3, 1, 20)) for _ in LINES]
    lines = [
        f"<p>{line}</p>" for line in source.choices(LINES, weights, k=source.choice((30, 200)))
    ]
    lines.insert(source.randrange(20), "<h1>A lamp</h1>")
    words = [f"<p>word {number}</p>" for number in range(source.choice((0, 400)))]
    buttons = "<button>Sold out</button>" * source.choice((0, 5, 50))
    html = f"<title>A lamp</title>{''.join(lines + words)}{buttons}<p class=price>€ 4.50</p>"
    spared, whole = gather(ParsedPage.read(html), whole=False), gather(ParsedPage.read(html))
    assert spared is not None
    assert whole is not None
    assert chosen_fields(spared.pool) == chosen_fields(whole.pool)
    firsts = {text: at for at, text in reversed(whole.found.notes)}
    assert spared.found.first_notes == sorted((at, text) for text, at in firsts.items())


def test_notes_that_fill_all_places_leave_none_for_others() -> None:
    note, other = "<p>In stock</p>" * 70, '<p class="stock">Sold out</p>' * 5
    page = ParsedPage.read(f"<h1>A lamp</h1>{note}{other}<p class=price>€ 4.50</p>")
    spared = gather(page, whole=False)
    assert spared is not None
    assert {made.value for made in spared.pool.found["availability"]} == {"in_stock"}


def test_behind_the_first_notes_no_line_is_read() -> None:
    lines = "".join(f"<p>word {number}</p>" for number in range(60))
    page = ParsedPage.read(
        f"<title>A lamp</title><h1>A lamp</h1><p>In stock</p>{lines}<p>In stock</p>"
    )
    survey = Survey(page, ["A lamp"])
    assert survey.first_notes == [(0, "In stock")]
    ((read, _),) = survey.texts._coming.values()
    assert len(read) < 20
    assert survey.notes == [(0, "In stock"), (61, "In stock")]


@pytest.mark.parametrize("seed", range(20))
def test_texts_that_are_looked_up_for_both_say_what_they_say_to_each(
    seed: int, memory: Memory
) -> None:
    source = random.Random(seed)
    texts = {source.choice(LINES) + source.choice(("", "", " 5", "\n")) for _ in range(12)}
    assert all_line_types(texts, memory) == (
        labels_and_reviews(texts, memory),
        stock_notes_and_others(texts, memory),
    )


def test_a_page_is_read_as_before_when_its_site_is_known(memory: Memory) -> None:
    cards = (
        '<li class="card"><a class="card-link">Lamp</a><b class="card-price">4.50</b></li>' * 100
    )
    html = f"<title>A lamp</title><h1>A lamp</h1><p class=price>€ 9.50</p><ul>{cards}</ul>"
    page = ParsedPage.read(html, "https://shop.example/a-lamp", memory=memory)
    first = read_products(page)
    assert first == read_products(page)
    known = memory.part(KnownSites).of("shop.example", prices=True)
    assert known is not None
    assert known._classes == ["card", "card-link"]


@pytest.mark.parametrize("noted", ["In stock", "word"])
def test_fields_come_in_the_order_in_which_they_are_found(noted: str) -> None:
    page = ParsedPage.read(
        '<meta property="og:price:amount" content="4.50"><h1>A lamp</h1>'
        f'<p class="breadcrumb">Lamps</p><p>SKU: 4711</p><p>{noted}</p><button>Sold out</button>'
    )
    (product,) = read_products(page, kinds=frozenset(("product",)))
    order = ["price", "product_name", "category", "sku", "availability"]
    assert list(product.fields) == order
