"""Amounts of money: what multiplies a number counts, and what only looks like it does not."""

# ruff: noqa: RUF001 - homoglyphs of Latin letters are intended

from __future__ import annotations

import pytest

from messor.content.amounts import MONEY, read_amount, read_currency


@pytest.mark.parametrize(
    "text, amount, currency",
    [
        ("Střih 450 Kč", 450, "CZK"),
        ("od 1 200 Kč", 1_200, "CZK"),
        ("an income under £250k", 250_000, "GBP"),
        ("up to €25M in total", 25_000_000, "EUR"),
        ("a fund of £1.25 billion", 1_250_000_000, "GBP"),
        ("jusqu'à 1,5 million d'euros", 1_500_000, "EUR"),
        ("hasta 2 millones de euros", 2_000_000, "EUR"),
        ("до 3 млн руб.", 3_000_000, "RUB"),
        ("do 50 tys. zł", 50_000, "PLN"),
        ("100 Tsd. €", 100_000, "EUR"),
        ("20 M€", 20_000_000, "EUR"),
        ("50 k€", 50_000, "EUR"),
        ("12 m² für 30 €", 30, "EUR"),
        ("Suppe € 5,50 M", 5.5, "EUR"),
        ("45 € mit Glas", 45, "EUR"),
    ],
)
def test_what_multiplies_an_amount(text: str, amount: float, currency: str) -> None:
    written = [match[0].strip() for match in MONEY.finditer(text)]
    assert [(read_amount(each), read_currency(each)) for each in written] == [(amount, currency)]
