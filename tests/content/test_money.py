"""Prices in the ways of all countries; a currency only where it is written."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from messor.content.money import MAX_TEXT, currency_code, parse_price
from tests.content.views import CORPORA

BAR = 0.97


@pytest.mark.parametrize(
    "text, amount, sign, code",
    [
        ("11,11.90 €", "11.90", "€", "EUR"),  # a count and a price in elements of their own
        ("1.299,00 €", "1299.00", "€", "EUR"),
        ("$1,299.00", "1299.00", "$", None),
        ("US$ 5", "5", "US$", "USD"),
        ("$1,190.00 AUD", "1190.00", "AUD", "AUD"),
        ("12 590 Kč", "12590", "Kč", "CZK"),
        ("1'250.50 CHF", "1250.50", "CHF", "CHF"),
        ("₹ 1,23,456", "123456", "₹", "INR"),
        ("3,500円", "3500", "円", "JPY"),
        ("19€90", "19.90", "€", "EUR"),
        ("45 ج.م", "45", "ج.م", "EGP"),
        ("1128240 рублей", "1128240", "руб", "RUB"),  # noqa: RUF001
        ("From 26 to 50 €", "26", "€", "EUR"),
        ("1.899,-", "1899", None, None),
        ("29.99", "29.99", None, None),
        ("0,40 LEI", "0.40", "LEI", "RON"),
        ("423.923 KD", "423.923", "KD", "KWD"),
        ("SAVE 20% now £5", "5", "£", "GBP"),
        ("free", "0", None, None),
    ],
)
def test_a_price(text: str, amount: str, sign: str | None, code: str | None) -> None:
    found = parse_price(text)
    assert (found.amount, found.sign, found.code) == (Decimal(amount), sign, code)


@pytest.mark.parametrize("text", ["", "15.08.2017", "July, 2004", "Ops!", "9" * 40])
def test_no_price(text: str) -> None:
    assert parse_price(text).amount is None


def test_no_currency_is_assumed() -> None:
    assert parse_price("12.00").code is None
    assert parse_price("$12.00").code is None
    assert parse_price("$12.00", hint="CAD").code == "CAD"
    assert parse_price("12.00", hint="RRP: £ 180").code == "GBP"


def test_the_decimal_separator_may_be_known() -> None:
    assert parse_price("1.234", decimal=".").amount == Decimal("1.234")
    assert parse_price("1.234").amount == Decimal(1234)


@pytest.mark.parametrize(
    "text, code", [("eur", "EUR"), ("€", "EUR"), ("$", None), ("GBP", "GBP"), ("words", None)]
)
def test_a_currency_by_itself(text: str, code: str | None) -> None:
    assert currency_code(text) == code


def test_only_so_much_is_read() -> None:
    assert parse_price(" " * MAX_TEXT + "5 €").amount is None


def test_price_strings_reach_the_bar() -> None:
    path = CORPORA / "price_strings.jsonl"
    if not path.exists():
        pytest.skip("the external cases (price_strings.jsonl) are not here")
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    right = 0
    for row in rows:
        found = parse_price(row["price_text"], row["currency_hint"], row["decimal_separator"])
        amount = None if row["amount"] is None else Decimal(row["amount"])
        right += found.amount == amount and found.sign == row["currency"]
    assert right >= BAR * len(rows)
