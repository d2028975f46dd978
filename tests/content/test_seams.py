"""Numbers of different elements stay apart: names keep theirs, prices do not take them."""

from __future__ import annotations

from typing import Any

import pytest

from messor.content.amounts import money_in
from messor.content.kinds import contact, funding_program, offer, price_item
from messor.content.products import normalise
from messor.content.products.visible import _is_price_line
from tests.content.views import found, view

ROWS = 7


def priced(card: str) -> list[tuple[Any, Any, Any]]:
    """Name, price and currency of a list of such cards, each with a number in its name."""
    cards = "".join(
        card.replace("NUMBER", str(n)).replace("PRICE", f"{n}{n}.90") for n in range(1, ROWS + 1)
    )
    items = found(price_item.find, view(f"<h1>Garden</h1>{cards}"))
    return [(each["name"], each["price"], each.get("currency")) for each in items]


@pytest.mark.parametrize(
    "card",
    [
        '<p><a href="/NUMBER">Garden kettle model NUMBER</a> <b>PRICE €</b></p>',
        '<p><a href="/NUMBER">Garden kettle model NUMBER</a><b>PRICE €</b></p>',
        '<p><a href="/NUMBER">Garden kettle model NUMBER</a> <b>€PRICE</b></p>',
        '<p><a href="/NUMBER">Garden kettle model NUMBER</a> <b>€ PRICE</b></p>',
        '<p><a href="/NUMBER">Garden kettle model NUMBER</a>PRICE €</p>',
        "<p>Garden kettle model NUMBER<a> PRICE €</a></p>",
        "<p><span>Garden kettle model NUMBER</span> <span>PRICE</span> <span>€</span></p>",
        "<p><span>Garden kettle model NUMBER</span> <i>€</i> <span>PRICE</span></p>",
        "<p><strong>Garden kettle model NUMBER</strong> - <span>PRICE EUR</span></p>",
        "<p><strong>Garden kettle model NUMBER</strong> <em>EUR PRICE</em></p>",
        "<p>Garden kettle model NUMBER PRICE €</p>",
        "<p>Garden kettle model NUMBER €PRICE</p>",
        "<p><a>Garden</a> <a>kettle model NUMBER</a> <b>PRICE €</b></p>",
        "<p><span>Garden kettle</span> <span>model NUMBER</span>\n<b>\n PRICE\n €</b></p>",
    ],
)
def test_a_price_takes_no_number_of_the_name(card: str) -> None:
    assert priced(card) == [
        (f"Garden kettle model {n}", float(f"{n}{n}.9"), "EUR") for n in range(1, ROWS + 1)
    ]


def test_a_number_before_a_price_of_three_digits_is_no_thousand() -> None:
    card = "<p><a>Pump model NUMBER</a> <b>120.90 €</b></p>"
    assert priced(card) == [(f"Pump model {n}", 120.9, "EUR") for n in range(1, ROWS + 1)]


@pytest.mark.parametrize(
    "shown, amount",
    [
        ("<b>19<sup>99</sup> €</b>", 19.99),
        ("<b>1 299,00 €</b>", 1299),
        ("<span>1.299,00</span> <span>€</span>", 1299),
        ("<i>€</i> <span>20.90</span>", 20.9),
        ("<i>from</i> <span>10</span> - <span>20 €</span>", 10),
    ],
)
def test_what_belongs_together_stays_together(shown: str, amount: float) -> None:
    names = ("Soup", "Salad", "Bread", "Tea", "Cake", "Fish", "Wine")
    page = view("".join(f"<p><strong>{name} of the day</strong> {shown}</p>" for name in names))
    assert [each["price"] for each in found(price_item.find, page)] == [amount] * len(names)


def test_a_code_before_a_count_is_no_price() -> None:
    (line,) = view("<p><i>all in USD</i> <a href='/'>5 items</a></p>").lines
    assert money_in(line) == []


def test_amounts_of_offers_and_programs_keep_to_their_elements() -> None:
    page = view("<p><a href='/k'>Save on kettle model 3</a> <b>15 €</b> now</p>")
    (record,) = found(offer.find, page)
    assert record.get("discount_amount", record.get("price")) == 15
    page = view(
        "<h1>Grants for gardens</h1><p><b>Funding amount:</b> <a>programme 2</a> <b>50 000 €</b></p>"
        "<p><b>Deadline:</b> 1 May 2027</p><p><b>Funder:</b> Ministry</p>"
    )
    (record,) = found(funding_program.find, page)
    assert record["amount"] == 50_000


def test_a_phone_number_takes_no_number_of_a_link_before_it() -> None:
    page = view("<p>Call <a href='/12'>shop 12</a> +49 30 901820</p>", "https://laden.de/kontakt")
    (record,) = found(contact.find, page)
    assert record["phone"] == "+4930901820"
    page = view("<p>Tel. <span>030</span> <span>901820</span></p>", "https://laden.de/kontakt")
    (record,) = found(contact.find, page)
    assert record["phone"] == "+4930901820"


def test_a_postal_code_is_not_made_of_two_numbers() -> None:
    page = view("<p>Storgatan 7, <a>rum 114</a> <b>55 Malmö</b></p>", "https://butik.se/kontakt")
    assert all("postal_code" not in record for record in found(contact.find, page))
    page = view("<p>Storgatan 7, <b>114 55</b> <i>Stockholm</i></p>", "https://butik.se/kontakt")
    (record,) = found(contact.find, page)
    assert (record["postal_code"], record["locality"]) == ("114 55", "Stockholm")


@pytest.mark.parametrize(
    "quote, amount",
    [
        ("<a>Kettle 1</a> <b>20</b> €", 20),
        ("<h3>Kettle 1</h3> <b>20</b> €", 20),
        ("19<sup>99</sup> €", 19.99),
        ("<span>19</span><small>99</small> €", 19.99),
    ],
)
def test_cents_are_not_what_follows_a_name(quote: str, amount: float) -> None:
    assert normalise.shown_amount(quote) == amount


def test_a_sign_with_its_own_number_does_not_price_the_line_beside_it() -> None:
    assert not _is_price_line("", "12", "€ 899")
    assert not _is_price_line("899 €", "12", "")
    assert _is_price_line("", "899", "€")
    assert _is_price_line("$", "899", "")
