"""The generic product parser on pages written for it, one way of stating a product at a time."""

from __future__ import annotations

from typing import Any

import pytest

from messor.content.page import ParsedPage
from messor.content.products import read_products
from messor.content.products.amazon import is_amazon, read_amazon
from messor.content.records import Record, unsupported

NAME = "Blue Canvas Shoe"


def page(
    body: str, head: str = "", url: str = "https://shop.example/p/blue-canvas-shoe"
) -> ParsedPage:
    html = f"<html><head><title>{NAME} | Shop</title>{head}</head>\r\n<body>{body}</body></html>"
    return ParsedPage.read(html, url)


def records(given: ParsedPage) -> list[Record]:
    found = read_products(given)
    for record in found:
        assert unsupported(record, given.html) == []
    return found


def product(body: str, head: str = "", **more: str) -> dict[str, Any]:
    found = records(page(body, head, **more))
    assert found, "no product"
    assert found[0].kind == "product"
    return {name: field.value for name, field in found[0].fields.items()}


JSON_LD = """<script type="application/ld+json">{"@context": "https://schema.org", "@graph": [
{"@type": "WebPage", "name": "x"}, {"@type": "Product", "name": "Blue Canvas Shoe", "sku": "BCS-1",
"gtin13": "4006381333931", "brand": {"@type": "Brand", "name": "Acme \\u0026 Co"}, "image":
["https://cdn.example/1.jpg", "https:\\/\\/cdn.example\\/2.jpg"], "category": "Shoes > Canvas",
"aggregateRating": {"ratingValue": 4.5, "reviewCount": "1,204"}, "offers": {"@type": "Offer",
"price": 49.50, "priceCurrency": "EUR", "availability": "https://schema.org/InStock",
"itemCondition": "https://schema.org/NewCondition"}, }]}</script>"""


def test_json_ld() -> None:
    found = product(f"<h1>{NAME}</h1>", JSON_LD)
    assert found == {
        "product_name": NAME, "sku": "BCS-1", "gtin": "4006381333931", "brand": "Acme & Co",
        "category": "Shoes > Canvas", "rating": 4.5, "review_count": 1204, "price": 49.5,
        "currency": "EUR", "availability": "in_stock", "condition": "new",
    }  # fmt: skip


THUMBNAILS = """<script type="application/ld+json">{"@type": "Product", "name": "Blue Canvas Shoe",
"sku": "BCS-1", "thumbnailUrl": "https://cdn.example/s.jpg", "offers": {"price": 49.50},
"image": ["https://cdn.example/1.jpg", {"@type": "ImageObject", "url": "https://cdn.example/2.jpg",
"thumbnail": {"@type": "ImageObject", "contentUrl": "https://cdn.example/2s.jpg"}}]}</script>"""
GALLERY = f"""<h1>{NAME}</h1><p class="price">49.50 EUR</p><p>SKU: BCS-1</p><button>Add to cart</button>
<a href="/big.jpg"><img src="/small.jpg" alt="{NAME}"></a><img src="/other.jpg" alt="{NAME}">"""


@pytest.mark.parametrize(
    "body, head, expected",
    [
        (f"<h1>{NAME}</h1>", THUMBNAILS, [
            ("https://cdn.example/1.jpg", "https://cdn.example/s.jpg"),
            ("https://cdn.example/2.jpg", "https://cdn.example/2s.jpg"),
        ]),
        (GALLERY, "", [("/big.jpg", "/small.jpg"), ("/other.jpg", None)]),
    ],
    ids=["stated", "shown"],
)  # fmt: skip
def test_thumbnails_belong_to_their_images(
    body: str, head: str, expected: list[tuple[str, str | None]]
) -> None:
    """Of an image or of the product in structured data, or a picture that links to a larger one."""
    images = [record for record in records(page(body, head)) if record.kind == "image"]
    small = [record.fields.get("thumbnail") for record in images]
    found = zip([record.value("url") for record in images], small, strict=True)
    assert [(url, each and each.value) for url, each in found] == expected


def test_images_are_records_of_their_own() -> None:
    found = records(page(f"<h1>{NAME}</h1>", JSON_LD))
    images = [record.value("url") for record in found if record.kind == "image"]
    assert images == ["https://cdn.example/1.jpg", "https://cdn.example/2.jpg"]


def test_evidence_shows_key_and_value() -> None:
    found = records(page(f"<h1>{NAME}</h1>", JSON_LD))[0]
    price = found.fields["price"]
    assert price.evidence.quote == '"price": 49.50'
    assert price.evidence.method == "json_ld:machine_amount"
    assert price.confidence > 0.8


def test_microdata() -> None:
    found = product(
        f'<div itemscope itemtype="http://schema.org/Product"><h1 itemprop="name">{NAME}</h1>'
        '<meta itemprop="sku" content="77-A"><div itemprop="offers" itemscope'
        ' itemtype="http://schema.org/Offer"><span itemprop="price">1.299,00 €</span>'
        '<link itemprop="availability" href="http://schema.org/OutOfStock"></div></div>'
    )
    assert (found["price"], found["currency"]) == (1299, "EUR")
    assert (found["sku"], found["availability"]) == ("77-A", "out_of_stock")


def test_meta_tags() -> None:
    found = product(
        f"<h1>{NAME}</h1>",
        '<meta property="product:price:amount" content="12.5"><meta property='
        '"product:price:currency" content="CHF"><meta property="product:availability"'
        ' content="preorder"><meta property="product:retailer_item_id" content="r-9001">',
    )
    assert (found["price"], found["currency"], found["sku"]) == (12.5, "CHF", "r-9001")
    assert found["availability"] == "preorder"


@pytest.mark.parametrize(
    "state",
    [
        (
            '<script id="__NEXT_DATA__" type="application/json">{"props": {"product": {"name": '
            '"Blue Canvas Shoe", "sku": "S-1", "price": {"value": 9.90, "currency": "EUR"}, '
            '"inStock": false}, "more": [{"name": "Red Boot", "price": 1}]}}</script>'
        ),
        (
            '<script>window.__STATE__ = {"product": {"title": "Blue Canvas Shoe", "sku": "S-1", '
            '"salePrice": "9.90", "price": "19.90", "currency": "EUR", "available": false}};</script>'
        ),
        (
            "<script>dataLayer.push({products: [{'name': 'Blue Canvas Shoe', 'sku': 'S-1', "
            "'price': '9.90', 'currency': 'EUR', 'in_stock': 'false',}]});</script>"
        ),
        (
            '<div data-product="{&quot;name&quot;:&quot;Blue Canvas Shoe&quot;,&quot;sku&quot;:'
            "&quot;S-1&quot;,&quot;price&quot;:9.90,&quot;currency&quot;:&quot;EUR&quot;,"
            '&quot;available&quot;:false}"></div>'
        ),
        (
            '<script>var meta = {"product": {"title": "Blue Canvas Shoe", "sku": "S-1", "price": 990,'
            ' "price_min": 990, "currency": "EUR", "available": false}};</script>'
        ),
    ],
)
def test_embedded_state(state: str) -> None:
    found = product(f"<h1>{NAME}</h1>{state}")
    assert (found["price"], found["currency"], found["sku"]) == (9.9, "EUR", "S-1")
    assert found["availability"] == "out_of_stock"


VISIBLE = """<nav><a class="price" href="/x">$1.00 deals</a></nav><h1>Blue Canvas Shoe</h1>
<div class="buybox"><del class="old-price">£80.00</del>
<span class="price">£<b>49</b><sup>95</sup></span>
<p>SKU: <b>BCS-12</b></p><p>Brand: Acme</p><p>EAN</p><p>4006381333931.</p>
<p>4.6 out of 5</p><p>1,020 reviews</p><button>Add to basket</button></div>
<div class="related-products"><h2>Similar products</h2><span class="price">£5.00</span></div>"""


def test_what_people_see() -> None:
    found = product(VISIBLE)
    assert (found["price"], found["currency"]) == (49.95, "GBP")
    assert (found["sku"], found["brand"], found["gtin"]) == ("BCS-12", "Acme", "4006381333931")
    assert (found["rating"], found["review_count"]) == (4.6, 1020)
    assert found["availability"] == "in_stock"
    assert found["product_name"] == NAME


@pytest.mark.parametrize(
    "note, state",
    [
        ("Currently unavailable.", "out_of_stock"),
        ("Derzeit nicht verfügbar", "out_of_stock"),
        ("нет в наличии", "out_of_stock"),
        ("Nur noch 3 auf Lager", "in_stock"),
        ("Disponible", "in_stock"),
        ("在庫あり", "in_stock"),
    ],
)
def test_notes_on_stock(note: str, state: str) -> None:
    found = product(f'<h1>{NAME}</h1><p class="price">5,00 €</p><p id="availability">{note}</p>')
    assert found["availability"] == state


@pytest.mark.parametrize(
    "part, state",
    [
        ("<button>Pre-order now</button>", "preorder"),
        ("<button>Vorbestellen</button>", "preorder"),
        ("<button>Add to cart</button><a>Pre-order policy</a>", "in_stock"),
    ],
)
def test_what_can_be_ordered_before_it_is_there(part: str, state: str) -> None:
    found = product(f'<h1>{NAME}</h1><p class="price">5,00 €</p>{part}<p>SKU: BCS-1</p>')
    assert found["availability"] == state


@pytest.mark.parametrize(
    "note, state",
    [
        ("Sorry, this item is currently out of stock.", "out_of_stock"),
        ("Leider ist dieser Artikel derzeit nicht lieferbar.", "out_of_stock"),
        ("If an item is out of stock, we will refund you.", "in_stock"),
    ],
)
def test_sentences_on_stock(note: str, state: str) -> None:
    found = product(f'<h1>{NAME}</h1><p class="price">5,00 €</p><p>{note}</p><p>SKU: BCS-1</p>')
    assert found["availability"] == state


def test_hidden_notes_on_stock_say_nothing() -> None:
    found = product(
        f'<h1>{NAME}</h1><p class="price">5,00 €</p><button>Add to cart</button>'
        '<div hidden><p class="stock">Out of stock</p></div>'
        '<div style="display: none"><p class="stock">Out of stock</p></div>'
    )
    assert found["availability"] == "in_stock"


def test_the_number_of_the_address_needs_the_page() -> None:
    body = f'<h1>{NAME}</h1><p class="price">5,00 €</p><button>Buy now</button>'
    url = "https://shop.example/p/blue-canvas-shoe-8812345.html"
    assert "sku" not in product(body, url=url)
    assert product(body + '<a data-id="8812345">', url=url)["sku"] == "8812345"


def test_a_currency_is_never_assumed() -> None:
    body = f'<h1>{NAME}</h1><p class="price">$5.00</p><button>Add to cart</button><p>SKU: A1</p>'
    assert "currency" not in product(body)
    assert product(body + '<script>x = {"currency":"CAD"}</script>')["currency"] == "CAD"


def test_variants_and_offers_follow_the_product() -> None:
    def variant(number: int, state: str) -> str:
        return (
            f'{{"@type": "Product", "name": "{NAME}", "sku": "V{number}", "size": "{number}",'
            f' "offers": {{"@type": "Offer", "price": "{number}.00", "priceCurrency": "EUR",'
            f' "availability": "http://schema.org/{state}"}}}}'
        )

    head = f'<script type="application/ld+json">[{variant(40, "OutOfStock")}, {variant(41, "InStock")}]</script>'
    found = records(page(f"<h1>{NAME}</h1>", head))
    sizes = [record.value("size") for record in found if record.kind == "product_variant"]
    assert sizes == ["40", "41"]
    assert found[0].value("availability") == "in_stock"

    offers = ", ".join(
        f'{{"@type": "Offer", "price": {n}, "seller": {{"name": "Shop {n}"}}}}' for n in (7, 9)
    )
    head = f'<script type="application/ld+json">{{"@type": "Product", "name": "{NAME}", "offers": [{offers}]}}</script>'
    found = records(page(f"<h1>{NAME}</h1>", head))
    sellers = [record.value("seller") for record in found if record.kind == "product_offer"]
    assert found[0].value("price") == 7
    assert sellers == ["Shop 7", "Shop 9"]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<h1>About us</h1><p>We sell shoes.</p>",
        "<h1>Markets fall</h1><p>The firm paid $5.00 a share.</p>" + "<p>More text.</p>" * 40,
        "<h1>Shoes</h1>"
        + "".join(
            '<div itemscope itemtype="http://schema.org/Product"><b itemprop="name">Boot'
            f' No. {n}</b></div>'
            for n in range(9)
        ),
    ],
)  # fmt: skip
def test_pages_of_no_product(body: str) -> None:
    assert records(page(body)) == []


def test_amazon_pages_are_read_from_their_own_places() -> None:
    body = (
        '<h1><span id="productTitle"> Blue Canvas Shoe </span></h1><a id="bylineInfo">Visit the'
        ' Acme Store</a><span id="priceblock_ourprice">EUR 12,90</span><div id="availability">'
        '<span>Auf Lager.</span></div><input type="hidden" id="ASIN" value="B00TEST123">'
        '<span class="price">99,00 €</span>'
    )
    given = page(body, url="https://www.amazon.de/dp/B00TEST123")
    assert is_amazon(given.url)
    (found,) = read_amazon(given)
    assert unsupported(found, given.html) == []
    assert found.parser == "amazon"
    assert found.value("price") == 12.9
    assert found.value("currency") == "EUR"
    assert found.value("brand") == "Acme"
    assert found.value("sku") == "B00TEST123"


@pytest.mark.parametrize(
    "url",
    [
        "https://amazon.de.example.com/dp/B00TEST123",
        "https://www.amazon.com/gp/help",
        "https://notamazon.com/dp/B00TEST123",
        "http://[bad/dp/B00TEST123",
    ],
)
def test_other_addresses_are_not_amazon(url: str) -> None:
    assert not is_amazon(url)


@pytest.mark.parametrize(
    "prices",
    [
        '<div class="price">Prezzo: <s>€ 59,00</s> <b>€ 49,50</b></div>',
        '<div class="price"><del>59,00 €</del> <ins>49,50 €</ins></div>',
        "<p>RRP € 59.00</p><p>Now <b>€ 49.50</b></p>",
        """<div class="prices"><p>De: R$ 59,00</p><p>Por: <strong>R$ 49,50</strong></p>
        <p>ou 10x de R$ 4,95</p><p>R$ 47,00 no Pix</p></div>""",
    ],
)  # fmt: skip
def test_the_price_that_is_asked_among_those_that_are_seen(prices: str) -> None:
    found = product(f"<h1>{NAME}</h1>{prices}<p>SKU: BCS-1</p><button>Add to cart</button>")
    assert found["price"] == 49.5


def test_a_price_that_is_struck_out_alone_is_a_price() -> None:
    body = f'<h1>{NAME}</h1><div class="price"><s>€ 59,00</s></div><p>SKU: BCS-1</p>'
    assert product(f"{body}<button>Add to cart</button>")["price"] == 59


def test_prices_below_a_heading_of_other_products_are_theirs() -> None:
    found = product(
        f"""<h1>{NAME}</h1><div class="product-price"><span>Was £89.99</span> <span>£69.99</span>
        <span>Save £20.00</span></div><p>In stock online. Out of stock in your local store.</p>
        <p>SKU: BCS-1</p><button>Add to basket</button><h2>Customers also bought</h2>
        <div class="card"><a href="/p/2">Socks</a> <span class="price">£29.99</span></div>"""
    )
    assert (found["price"], found["availability"]) == (69.99, "in_stock")


def rated(value: str, best: str) -> str:
    return (
        '<script type="application/ld+json">{"@type": "Product", "name": "Blue Canvas Shoe", "sku": '
        f'"B1", "aggregateRating": {{"@type": "AggregateRating", {best}"ratingValue": {value}, '
        '"reviewCount": 3}, "offers": {"price": 5, "priceCurrency": "EUR"}}</script>'
    )


@pytest.mark.parametrize(
    "value, best, expected",
    [
        ("4.5", "", 4.5),
        ("4.5", '"bestRating": 5, ', 4.5),
        ("8.4", '"bestRating": "10", ', 4.2),
        ('"92"', '"bestRating": 100, ', 4.6),
        ("0", '"bestRating": 10, ', 0),
        ("10", '"bestRating": 10, ', 5),
        ("11", '"bestRating": 10, ', None),
        ("8.4", "", None),
        ("8.4", '"bestRating": 0, ', None),
    ],
)
def test_ratings_are_scaled_by_their_best(value: str, best: str, expected: float | None) -> None:
    assert product(f"<h1>{NAME}</h1>", rated(value, best)).get("rating") == expected


def test_a_rating_in_microdata_is_scaled_too() -> None:
    found = product(
        f'<div itemscope itemtype="http://schema.org/Product"><h1 itemprop="name">{NAME}</h1>'
        '<p itemprop="aggregateRating" itemscope itemtype="http://schema.org/AggregateRating">'
        '<b itemprop="ratingValue">7.5</b> of <i itemprop="bestRating">10</i></p><p'
        ' itemprop="offers" itemscope><b itemprop="price">9.00</b></p></div>'
    )
    assert found["rating"] == 3.75


@pytest.mark.parametrize(
    "stated, is_product",
    [
        ('"offers": {"price": 5}', True),
        ('"sku": "B-100"', True),
        ('"gtin13": "4006381333931"', True),
        ('"mpn": "X-77"', True),
        ('"brand": "Acme", "description": "Blue."', False),
    ],
)
def test_a_product_has_a_price_or_a_number(stated: str, is_product: bool) -> None:
    data = f'{{"@type": "Product", "name": "{NAME}", {stated}}}'
    head = f'<script type="application/ld+json">{data}</script>'
    found = records(page(f"<h1>{NAME}</h1><button>Add to cart</button>", head))
    assert ["product"] * is_product == [each.kind for each in found]


def test_offers_without_a_price_or_number_are_not_a_product() -> None:
    offers = ",".join(
        f'{{"@type": "Offer", "availability": "InStock", "seller": "Shop {n}"}}' for n in (1, 2)
    )
    data = f'{{"@type": "Product", "name": "{NAME}", "offers": [{offers}]}}'
    found = records(page(f"<h1>{NAME}</h1>", f'<script type="application/ld+json">{data}</script>'))
    assert [each.kind for each in found] == ["product_offer", "product_offer"]
