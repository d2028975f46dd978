"""Pages that list products: each card is a product of its own, and none is the page's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from messor.content.page import ParsedPage
from messor.content.products import read_products
from messor.content.records import Record, unsupported

URL = "https://shop.example/kettles"
KETTLES = [
    ("Copper kettle", "49.90"),
    ("Steel kettle", "29.00"),
    ("Glass kettle", "35.50"),
    ("Travel kettle", "19.90"),
    ("Whistling kettle", "24.00"),
    ("Enamel kettle", "44.00"),
]


def read(body: str, head: str = "", url: str = URL) -> list[Record]:
    html = f"<html><head><title>Kettles | Shop</title>{head}</head><body>{body}</body></html>"
    found = read_products(ParsedPage.read(html, url))
    for record in found:
        assert unsupported(record, html) == []
    return found


def values(records: list[Record]) -> list[tuple[Any, ...]]:
    assert {record.kind for record in records} <= {"listed_product"}
    return [tuple(r.value(name) for name in ("product_name", "price", "url")) for r in records]


EXPECTED = [(name, float(price), f"/p/{n}") for n, (name, price) in enumerate(KETTLES)]


def items(form: str) -> str:
    return "".join(
        form.format(n=n, name=name, price=price) for n, (name, price) in enumerate(KETTLES)
    )


MARKUP = {
    "list of links": "<ul>"
    + items('<li><a href="/p/{n}">{name}</a> <b>${price}</b></li>')
    + "</ul>",
    "grid": '<div class="grid">'
    + items(
        '<div class="card"><a href="/p/{n}"><img src="/{n}.jpg" alt="{name}"></a><h3><a href="/p/{n}">'
        '{name}</a></h3><span class="price">${price}</span><button>Add to cart</button></div>'
    )
    + "</div>",
    "card in a link": "<div>"
    + items('<a class="tile" href="/p/{n}"><h2>{name}</h2><p class="price">€ {price}</p></a>')
    + "</div>",
    "table": "<table><tr><th>Kettle<th>Price</tr>"
    + items('<tr><td><a href="/p/{n}">{name}</a></td><td>{price} €</td></tr>')
    + "</table>",
    "old and new prices": "<section>"
    + items(
        '<article class="product"><a href="/p/{n}"><h3>{name}</h3></a><div class="price"><del>$99.00'
        '</del> <ins>${price}</ins></div><a href="/cart?add={n}">Add to cart</a></article>'
    )
    + "</section>",
    "microdata": "<div>"
    + items(
        '<div itemscope itemtype="http://schema.org/Product"><a itemprop="url" href="/p/{n}"><span'
        ' itemprop="name">{name}</span></a><span itemprop="offers" itemscope'
        ' itemtype="http://schema.org/Offer"><b itemprop="price">{price}</b><meta'
        ' itemprop="priceCurrency" content="EUR"></span></div>'
    )
    + "</div>",
}


@pytest.mark.parametrize("body", MARKUP.values(), ids=MARKUP.keys())
def test_six_cards_are_six_products(body: str) -> None:
    assert values(read(f"<h1>Kettles</h1>{body}")) == EXPECTED


def test_rows_of_a_grid_are_not_cards() -> None:
    form = '<div class="col"><a href="/p/{}">{}</a><span class="price">${}</span></div>'
    cards = [form.format(n, name, price) for n, (name, price) in enumerate(KETTLES[:5])]
    rows = [f'<div class="row">{"".join(cards[at : at + 2])}</div>' for at in (0, 2, 4)]
    assert values(read(f"<h1>Kettles</h1><div>{''.join(rows)}</div>")) == EXPECTED[:5]


def test_an_item_list_in_json() -> None:
    entries = [
        {
            "@type": "ListItem",
            "position": n,
            "item": {
                "@type": "Product", "name": name, "url": f"https://shop.example/p/{n}",
                "offers": {"@type": "Offer", "price": price, "priceCurrency": "EUR"},
            },
        }
        for n, (name, price) in enumerate(KETTLES)
    ]  # fmt: skip
    data = json.dumps({"@type": "ItemList", "itemListElement": entries})
    found = read("<h1>Kettles</h1>", f'<script type="application/ld+json">{data}</script>')
    full = [(name, price, f"https://shop.example{url}") for name, price, url in EXPECTED]
    assert values(found) == full
    assert {record.value("currency") for record in found} == {"EUR"}
    assert {record.confidence for record in found} == {0.85}


def test_two_are_enough_and_each_has_its_own_evidence() -> None:
    body = "".join(
        f'<li><a href="/p/{n}">{name}</a> <b class="price">${price}</b></li>'
        for n, (name, price) in enumerate(KETTLES[:2])
    )
    first, second = read(f"<h1>Kettles</h1><ul>{body}</ul>")
    assert first.fields["price"].evidence.quote == "$49.90"
    assert second.fields["price"].evidence.quote == "$29.00"
    assert second.fields["url"].evidence.quote == "/p/1"
    assert (first.confidence, second.confidence) == (0.7, 0.7)


def test_cards_without_a_link_are_less_certain() -> None:
    body = items('<div class="product"><h3>{name}</h3><span class="price">${price}</span></div>')
    found = read(f"<h1>Kettles</h1>{body}")
    assert values(found) == [(name, price, None) for name, price, _ in EXPECTED]
    assert {record.confidence for record in found} == {0.6}


@pytest.mark.parametrize(
    "body",
    [
        # sums in the news
        items('<li><a href="/n/{n}">Firm pays for {name}</a><p>It paid ${price} million.</p></li>'),
        # salaries
        items('<li><a href="/j/{n}">Maker of a {name}</a><p>$50,000 - $70,000</p></li>'),
        # filters by price
        "<ul>" + items('<li><a href="/f/{n}">{name}s</a> <b>Under ${price}</b></li>') + "</ul>",
        # rents
        items('<li><a href="/r/{n}">Room of {name}</a> <b>${price} per month</b></li>'),
        # a menu
        "<nav><ul>" + items('<li><a href="/m/{n}">{name}</a> <b>${price}</b></li>') + "</ul></nav>",
    ],
    ids=["news", "jobs", "filters", "rents", "menu"],
)  # fmt: skip
def test_other_lists_are_not_products(body: str) -> None:
    assert read(f"<h1>Kettles</h1>{body}") == []


def test_a_products_page_keeps_its_own_beside_others() -> None:
    others = items(
        '<li class="card"><a href="/p/{n}">{name}</a><span class="price">${price}</span></li>'
    )
    body = (
        '<h1>Blue Canvas Shoe</h1><span class="price">$59.00</span><button>Add to cart</button>'
        f"<h2>You may also like</h2><ul>{others}</ul>"
    )
    html = f"<title>Blue Canvas Shoe</title>{body}"
    found = read_products(ParsedPage.read(html, "https://shop.example/p/blue-canvas-shoe"))
    assert [(r.kind, r.value("price")) for r in found] == [("product", 59)]


def test_the_first_of_many_published_products_is_not_the_pages() -> None:
    names = ["Canon Digital Camera Kit Pro", "Nikon Digital Camera Kit Max", "Sony Kit One"]
    data = json.dumps(
        [
            {"@type": "Product", "name": name, "sku": f"C{n}", "url": f"/p/{n}",
             "offers": {"@type": "Offer", "price": 100 + n, "priceCurrency": "USD"}}
            for n, name in enumerate(names)
        ]
    )  # fmt: skip
    html = (
        "<title>Digital Camera Kits</title><h1>Digital Camera</h1>"
        f'<script type="application/ld+json">{data}</script>'
    )
    found = read_products(ParsedPage.read(html, "https://shop.example/cameras"))
    assert [(r.kind, r.value("product_name")) for r in found] == [
        ("listed_product", name) for name in names
    ]
