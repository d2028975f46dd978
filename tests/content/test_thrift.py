"""What is left out to spare work changes no answer: what settles a value, what is asked for once."""

from __future__ import annotations

import json

import pytest

from messor.content.kinds import find_records
from messor.content.kinds.contact import find as contacts
from messor.content.kinds.line_hints import EMAIL, PHONE, PLACE, hints_of
from messor.content.kinds.opening_hours import find as hours
from messor.content.page import ParsedPage
from messor.content.phones import numbers
from messor.content.products import read_products
from messor.content.products.choose import chosen_fields
from messor.content.products.generic import gather
from messor.content.structured.items import MICRODATA, RDFA
from messor.parsers import Parsers
from messor.parsers.builtin import PRODUCTS
from tests.content.views import corpus_pages, found, view
from tests.parsers.test_parsers import Versioned

NAME = "Oak Table"


def shop(offers: object, shown: str) -> ParsedPage:
    data = {"@type": "Product", "name": NAME, "sku": "OT-4711", "offers": offers}
    return ParsedPage.read(
        f"<title>{NAME} | Shop</title><h1>{NAME}</h1>"
        f'<div class="price">{shown}</div><button>Add to cart</button>'
        f'<script type="application/ld+json">{json.dumps(data)}</script>',
        "https://shop.example/oak-table",
    )


def offer(price: str, currency: str | None = "EUR") -> dict[str, str]:
    told = {"@type": "Offer", "price": price}
    return told if currency is None else {**told, "priceCurrency": currency}


def price_of(page: ParsedPage) -> tuple[object, object]:
    product = read_products(page)[0]
    return product.value("price"), product.value("currency")


def test_a_published_price_needs_no_visible_one() -> None:
    page = shop(offer("249.00"), "€ 199.00")
    spared = gather(page, whole=False)
    assert spared is not None
    assert [made.evidence.source for made in spared.pool.found["price"]] == ["json_ld"]
    assert price_of(page) == (249, "EUR")


def test_whoever_learns_to_choose_is_offered_the_visible_price_too() -> None:
    whole = gather(shop(offer("249.00"), "€ 199.00"))
    assert whole is not None
    assert {made.value for made in whole.pool.found["price"]} == {249, 199}


def test_of_several_published_prices_the_visible_one_is_meant() -> None:
    assert price_of(shop([offer("249.00"), offer("199.00")], "€ 199.00")) == (199, "EUR")


def test_a_currency_that_is_only_shown_is_seen() -> None:
    assert price_of(shop(offer("249.00", None), "€ 249.00")) == (249, "EUR")


@pytest.mark.parametrize("corpus", ["products", "articles"])
def test_on_pages_of_others_sparing_changes_no_value(corpus: str) -> None:
    compared = 0
    for url, html in corpus_pages(corpus):
        page = ParsedPage.read(html, url)
        spared, whole = gather(page, whole=False), gather(page)
        assert (spared is None) == (whole is None)
        if spared is not None and whole is not None:
            values = [
                {name: field.value for name, field in chosen_fields(each.pool).items()}
                for each in (spared, whole)
            ]
            assert values[0] == values[1], url
            compared += 1
    assert compared > 0


@pytest.mark.parametrize(
    "line",
    [
        "Tel. 030 1234567", "Telefon: 030 1234567", "Tel. Nr. 030 1234567", "Telnr: 030 1234567",
        "Call us on 020 7946 0958", "call 020 7946 0958", "Appelez-nous au 01 23 45 67 89",
        "Rufen Sie uns an: 030 1234567", "erreichen Sie uns unter 030 1234567",
        "Service-Hotline 0800 1234567", "Numéro vert : 0800 123 456", "(T 030 1234567)",
        "телефон: 495 123 45 67", "Toll-free: 800 555 0199", "WhatsApp: 030 1234567",
        "Zentrale 030 1234567", "Llame al 91 123 45 67", "p: 212 555 0199", "Mobil 0171 1234567",
    ],
)  # fmt: skip
def test_labels_of_numbers_are_seen_by_their_last_word(line: str) -> None:
    assert [called for _, called in numbers(line)] == ["phone"]
    assert hints_of(line) & PHONE


@pytest.mark.parametrize("line", ["Fax 030 1234567", "Telefax: 030 1234567", "(f: 030 1234567"])
def test_a_fax_is_none(line: str) -> None:
    assert [called for _, called in numbers(line)] == ["fax"]


def test_what_a_line_may_hold() -> None:
    assert hints_of("Sturdy lamp 120 12.34 EUR") & PHONE == 0
    assert hints_of("no sign of anything") == 0
    assert hints_of("write to info (at) example (dot) org") == EMAIL
    assert hints_of("10115 Berlin") & PLACE
    long = "x" * 150 + " anna@acme.org"
    assert (hints_of(long), hints_of(long)) == (EMAIL, EMAIL)


def test_the_same_line_on_another_page_is_read_again() -> None:
    """What is remembered of a line is what it may hold, never what was made of it."""
    line = "<p>Telefon 030 1234567</p>"
    assert found(contacts, view(line, "https://a.de/")) == [{"phone": "+49301234567"}]
    other = found(contacts, view(line, "https://a.example/"))
    assert other == [{"phone_text": "030 1234567"}]


def test_hours_wait_for_their_days() -> None:
    page = view("<h2>Opening hours</h2><p>Monday</p><p>9:00 - 12:00</p><p>closed on holidays</p>")
    assert found(hours, page)[0] == {
        "days": ["monday"],
        "hours": [{"opens": "09:00", "closes": "12:00"}],
    }


def test_a_closed_day_is_a_statement() -> None:
    page = view("<h2>Opening hours</h2><p>Sunday</p><p>closed</p>")
    assert found(hours, page) == [{"days": ["sunday"], "hours": []}]


def test_items_are_read_once_for_products_and_for_other_kinds() -> None:
    page = view(
        '<div itemscope itemtype="https://schema.org/Person" itemref="more">'
        '<span itemprop="https://schema.org/name">Anna Berg</span></div>'
        '<p id="more"><span itemprop="jobTitle">Head of Sales</span></p>'
        '<div typeof="Organization"><b property="schema:name">Acme</b></div>'
    )
    page.items  # noqa: B018 - read on demand
    assert page.page.items(MICRODATA) is page.page.items(MICRODATA)
    assert [item.element.tag for item in page.page.items(RDFA)] == ["div"]
    (person,) = [record for record in find_records(page) if record.value("role")]
    assert (person.value("name"), person.value("role")) == ("Anna Berg", "Head of Sales")


def test_a_parser_that_comes_later_is_chosen_too() -> None:
    parsers = Parsers()
    assert len(parsers.chosen()) == 3
    parsers.add(Versioned())
    assert len(parsers.chosen()) == 4
    assert PRODUCTS in parsers.chosen(generic=True)
