"""Addresses closed by a country's name, and buildings that stand before a street."""

from __future__ import annotations

from typing import Any

import pytest

from messor.parsers.page_reading import read_records

PLACE = ("street", "postal_code", "locality")


def address_in(*lines: str) -> list[dict[str, Any]]:
    """The addresses of a page with these lines."""
    html = "<body><h1>Contact</h1>" + "".join(f"<div>{line}</div>" for line in lines)
    records = read_records(html, "https://a.example/contact", kinds=frozenset(("contact",))).records
    found = [{name: each.value(name) for name in PLACE if each.value(name)} for each in records]
    return [each for each in found if each]


@pytest.mark.parametrize(
    "lines, street, code, city",
    [
        (("Ahmad Javad 20,", "Baku, Azerbaijan"), "Ahmad Javad 20", None, "Baku"),
        (
            ("AWM Systems Inc.", "1st Floor, Usman Center, Khadim Ali Road,", "Sialkot (51310) - Pakistan."),
            "1st Floor, Usman Center, Khadim Ali Road", "51310", "Sialkot",
        ),
        (
            ("Office of the North", "Block 14, Kunaev", "Office 2/1", "01000 Astana", "Kazakhstan"),
            "Block 14, Kunaev Office 2/1", "01000", "Astana",
        ),
        (
            ("Tweed Works", "52 Mill Street", "Leeds LS1 4AP"),
            "Tweed Works 52 Mill Street", "LS1 4AP", "Leeds",
        ),
    ],
)  # fmt: skip
def test_addresses(lines: tuple[str, ...], street: str, code: str | None, city: str) -> None:
    expected = {"street": street, "postal_code": code, "locality": city}
    assert address_in(*lines) == [{name: value for name, value in expected.items() if value}]


@pytest.mark.parametrize(
    "lines",
    [
        ("Cape Town, South Africa",),  # a city without a street
        ("We shipped 20 boxes to Norway!", "Oslo, Norway"),
        ("Call +994 12 497 65 57", "Baku, Azerbaijan"),
        ("Our plans for 2026", "Norway"),
    ],
)
def test_no_address(lines: tuple[str, ...]) -> None:
    assert not any("street" in each for each in address_in(*lines))


def test_a_heading_before_a_street_is_no_building() -> None:
    (found,) = address_in("Head Office", "52 Mill Street", "Leeds LS1 4AP")
    assert found["street"] == "52 Mill Street"
