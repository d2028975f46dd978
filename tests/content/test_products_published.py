"""Published products in the odd ways shops publish them: the asked price, one offer, references."""

from __future__ import annotations

import json
from typing import Any

import pytest

from messor.content.page import ParsedPage
from messor.content.products import read_products
from messor.content.records import unsupported

NAME = "Forest Honey"


def product(published: Any, body: str = "", head: str = "") -> dict[str, Any]:
    html = (
        f"<html><head><title>{NAME}</title>{head}"
        f'<script type="application/ld+json">{json.dumps(published)}</script></head>'
        f"<body><h1>{NAME}</h1>{body}</body></html>"
    )
    found = read_products(ParsedPage.read(html, "https://shop.example/p/forest-honey"))
    for record in found:
        assert unsupported(record, html) == []
    assert found[0].kind == "product"
    return {name: field.value for name, field in found[0].fields.items()}


def offered(*specifications: dict[str, Any], **offer: Any) -> dict[str, Any]:
    given = {"@type": "Offer", **offer}
    if specifications:
        given["priceSpecification"] = list(specifications)
    return {"@type": "Product", "name": NAME, "offers": given}


def asked(price: str, **more: Any) -> dict[str, Any]:
    return {"@type": "UnitPriceSpecification", "price": price, "priceCurrency": "EUR", **more}


@pytest.mark.parametrize("kind", ["ListPrice", "StrikethroughPrice", "MSRP"])
def test_a_price_to_compare_with_is_not_the_one_that_is_asked(kind: str) -> None:
    old = asked("12.90", priceType=f"https://schema.org/{kind}")
    found = product(offered(old, asked("9.90")))
    assert (found["price"], found["list_price"]) == (9.9, 12.9)


def test_a_list_price_alone_is_asked() -> None:
    found = product(offered(asked("12.90", priceType="https://schema.org/ListPrice")))
    assert found["price"] == 12.9
    assert "list_price" not in found


@pytest.mark.parametrize("term", ["referenceQuantity", "validForMemberTier"])
def test_prices_of_a_unit_or_of_members_come_second(term: str) -> None:
    partial = asked("1.98", **{term: {"@type": "Thing", "name": "x"}})
    assert product(offered(partial, asked("9.90")))["price"] == 9.9


def test_seller_and_condition_are_those_of_the_price_that_is_asked() -> None:
    offers = [
        {"price": "30", "seller": {"name": "First"}},
        {"price": "35", "seller": {"name": "Second"}, "itemCondition": "UsedCondition"},
    ]
    aggregate = {"@type": "AggregateOffer", "lowPrice": "30", "highPrice": "35", "offers": offers}
    found = product({"@type": "Product", "name": NAME, "offers": aggregate})
    assert (found["price"], found["seller"]) == (30, "First")
    assert "condition" not in found


def test_references_are_followed() -> None:
    graph = [
        {"@type": "Brand", "@id": "#brand", "name": "Bee & Sons"},
        {"@type": "Offer", "@id": "#offer", "price": "9.90", "priceCurrency": "EUR"},
        {"@type": "Product", "name": NAME, "brand": {"@id": "#brand"}, "offers": {"@id": "#offer"}},
    ]
    found = product({"@context": "https://schema.org", "@graph": graph})
    assert (found["price"], found["brand"]) == (9.9, "Bee & Sons")


def test_literals_that_stand_as_values() -> None:
    assert product(offered(price={"@value": "9.90"}, priceCurrency="EUR"))["price"] == 9.9


def test_an_unknown_reference_is_no_name() -> None:
    published = offered(price="9.90", priceCurrency="EUR")
    assert "brand" not in product({**published, "brand": {"@id": "#brand"}})


def test_references_in_a_circle_end() -> None:
    graph = [
        {"@type": "Product", "@id": "#a", "name": NAME, "offers": {"@id": "#b"}, "brand": {"@id": "#a"}},
        {"@type": "Offer", "@id": "#b", "price": "5", "offers": {"@id": "#b"}},
    ]  # fmt: skip
    assert product({"@graph": graph})["price"] == 5


@pytest.mark.parametrize(
    "shown, price", [("18.990 €", 18_990), ("€ 18.99", 18.99), ("18.990,00 €", 18_990)]
)
def test_three_digits_behind_a_point_mean_what_people_see(shown: str, price: float) -> None:
    published = offered(price="18.990", priceCurrency="EUR")
    assert product(published, f'<p class="price">{shown}</p>')["price"] == price


@pytest.mark.parametrize("code, price", [("CLP", 18_990), ("KWD", 18.99), ("EUR", 18.99)])
def test_three_digits_behind_a_point_by_their_currency(code: str, price: float) -> None:
    assert product(offered(price="18.990", priceCurrency=code))["price"] == price


def test_a_meta_tag_and_a_visible_price_outweigh_decimals() -> None:
    meta = '<meta property="product:price:amount" content="18.990">'
    published = offered(price="18.990", priceCurrency="EUR")
    assert product(published, '<p class="price">18.990 €</p>', meta)["price"] == 18_990


def test_colour_and_condition_of_the_product_itself() -> None:
    found = product(
        {
            **offered(price="9"),
            "color": "Amber",
            "itemCondition": "https://schema.org/UsedCondition",
        }
    )
    assert (found["color"], found["condition"]) == ("Amber", "used")


def test_a_button_that_cannot_be_pressed_does_not_outweigh_a_note() -> None:
    button = "<button disabled>Add to cart</button>"
    published = offered(price="9.90")
    assert product(published, f"<p>Out of stock</p>{button}")["availability"] == "out_of_stock"
    assert product(published, button)["availability"] == "in_stock"


def images(body: str, published: str = "") -> list[dict[str, Any]]:
    html = f"<html><head><title>{NAME}</title>{published}</head><body>{body}</body></html>"
    found = read_products(ParsedPage.read(html, "https://shop.example/p/forest-honey"))
    for record in found:
        assert unsupported(record, html) == []
    return [
        {name: field.value for name, field in record.fields.items()}
        for record in found
        if record.kind == "image"
    ]


SOLD = f'<h1>{NAME}</h1><p class="price">9,90 €</p><button class="btn">Add to cart</button>'


def test_images_have_what_stands_in_for_them() -> None:
    published = """<script type="application/ld+json">{"@type": "Product", "name": "Forest Honey",
    "image": ["https://cdn.example/a/forest-honey-1.jpg?w=900", "https://cdn.example/b/1.jpg"],
    "offers": {"price": "9.90"}}</script>"""
    shown = """<img src="/small/forest-honey-1.jpg" alt="Honey &amp; spoon"><img src="/b/1.jpg" alt="x">
    <img src="https://cdn.example/b/1.jpg?w=2" alt="1">"""
    assert images(SOLD + shown, published) == [
        {"url": "https://cdn.example/a/forest-honey-1.jpg?w=900", "alt": "Honey & spoon"},
        {"url": "https://cdn.example/b/1.jpg"},
    ]


def test_images_that_bear_the_product_s_name_are_its_own_where_none_is_published() -> None:
    shown = """<img src="/logo.png" alt="Forest"><img src="/pixel.gif" alt="">
    <a href="/big.jpg"><img src="data:," data-src="/i/jar.jpg" alt="Forest Honey jar"></a>
    <img src="/i/jar2.jpg" alt="Forest Honey jar">
    <a href="/p/other"><img src="/i/other.jpg" alt="Forest Honey jar"></a>
    <img src="/i/dark.jpg" alt="Forest Honey, dark">"""
    assert images(SOLD + shown) == [
        {"url": "/big.jpg", "thumbnail": "/i/jar.jpg", "alt": "Forest Honey jar"},
        {"url": "/i/jar2.jpg", "alt": "Forest Honey jar"},
    ]


def test_the_number_is_that_of_the_offer_whose_price_is_seen() -> None:
    offers = [
        {"@type": "Offer", "sku": "H-S", "price": "20.00"},
        {"@type": "Offer", "sku": "H-M", "price": "22.00"},
    ]
    published = {"@type": "Product", "name": NAME, "offers": offers}
    found = product(published, '<p class="price">22,00 €</p>')
    assert (found["price"], found["sku"]) == (22, "H-M")
    assert product({**published, "sku": "H"}, '<p class="price">22,00 €</p>')["sku"] == "H"


def test_a_number_with_an_exponent() -> None:
    html = """<html><head><title>Forest Honey</title><script type="application/ld+json">
    {"@type": "Product", "name": "Forest Honey", "offers": {"price": 1.5E2}}</script></head>
    <body><h1>Forest Honey</h1></body></html>"""
    (found,) = read_products(ParsedPage.read(html, "https://shop.example/p/forest-honey"))
    assert found.value("price") == 150
