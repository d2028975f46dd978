"""How statements are compared: what joins, what contradicts, and how often both are right."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import Any

import pytest

from messor.entities.groups import ComparedPair, group
from messor.entities.kinds import KINDS
from messor.entities.match import JOINED, PROPOSED, Features, Match, SourceRecord
from tests.entities.shops import goods, listings


def features(kind: str, number: int = 1, site: str = "one.example", **data: Any) -> Features:
    own = KINDS[kind]
    reading = own.read(SourceRecord(number, min(own.sources), site, data))
    assert reading is not None
    return {name: frozenset(values) for name, values in reading.features.items()}


def compared(kind: str, one: dict[str, Any], other: dict[str, Any]) -> Match | None:
    return KINDS[kind].compare(
        features(kind, 1, **one), features(kind, 2, **{"site": "two.example", **other})
    )


KETTLE = {"product_name": "Acme Copper Kettle KX-200B 1.5 l", "brand": "Acme"}


@pytest.mark.parametrize(
    "other, joins",
    [
        ({"product_name": "KX-200B by ACME, kettle, 1,5l"}, True),
        ({"product_name": "ACME KX 200B Copper Kettle 1500 ml"}, True),
        ({"product_name": "Acme Kettle KX-200B-EU"}, True),
        ({"product_name": "Acme Copper Kettle KX-200C 1.5 l", "brand": "Acme"}, False),
        ({"product_name": "Acme Copper Kettle KX-200B 1.7 l", "brand": "Acme"}, False),
        ({"product_name": "Lid for Acme Copper Kettle KX-200B", "brand": "Acme"}, False),
        ({"product_name": "Kettle KX-200B", "brand": "Zeta"}, False),
        ({"product_name": "Copper Kettle", "brand": "Acme"}, False),
    ],
)
def test_products_of_one_number(other: dict[str, Any], joins: bool) -> None:
    match = compared("product", KETTLE, other)
    assert (match is not None and match.score >= JOINED) is joins, match


def test_a_gtin_decides_before_names() -> None:
    one = {"product_name": "Wasserkocher rot", "gtin": "4006381333931"}
    other = {"product_name": "Kettle, red or so", "gtin": "04006381333931"}
    match = compared("product", one, other)
    assert match is not None
    assert match.score == 1
    assert match.basis == "GTIN 4006381333931"
    different = compared(
        "product", one, {"product_name": "Wasserkocher rot", "gtin": "4006381333948"}
    )
    assert different is not None
    assert different.score == 0


def test_of_one_number_with_and_without_a_colour_a_person_decides() -> None:
    named = {**KETTLE, "color": "rot"}
    match = compared("product", KETTLE, named)
    assert match is not None
    assert PROPOSED <= match.score < JOINED
    other = compared("product", named, {**KETTLE, "color": "schwarz"})
    assert other is not None
    assert other.score == 0
    same = compared("product", named, {"product_name": "Acme Kettle KX-200B red"})
    assert same is not None
    assert same.score >= JOINED


def test_names_alone_need_near_prices() -> None:
    one = {"product_name": "Copper Kettle Classic", "brand": "Acme", "price": 40, "currency": "EUR"}
    near = compared("product", one, {**one, "price": 60})
    far = compared("product", one, {**one, "price": 70})
    assert near is not None
    assert near.score >= JOINED
    assert far is None


@pytest.mark.parametrize(
    "one, other, joins",
    [
        ({"name": "River Food Bank", "phone": "+1 555 010 2030"}, {"name": "River Foodbank Inc", "phone": "(555) 010-2030"}, False),
        ({"name": "River Food Bank", "phone": "+1 555 010 2030"}, {"name": "The River Food Bank, Inc.", "phone": "(555) 010-2030"}, True),
        ({"name": "Acme GmbH", "vat_id": "DE 123456789"}, {"name": "ACME", "vat_id": "DE123456789"}, True),
        ({"name": "Acme GmbH", "vat_id": "DE123456789"}, {"name": "Acme GmbH", "vat_id": "DE987654321"}, False),
        ({"name": "Acme Shop", "url": "https://www.acme.example/a"}, {"name": "Acme Shop GmbH", "email": "hi@acme.example"}, True),
        ({"name": "Acme Shop", "email": "a@gmail.com"}, {"name": "Acme Store", "email": "a@gmail.com"}, False),
        ({"name": "Pharmacy", "locality": "Bonn"}, {"name": "Pharmacy", "locality": "Kiel"}, False),
        ({"name": "Lion Pharmacy", "postal_code": "53111"}, {"name": "Lion Pharmacy", "postal_code": "53111"}, True),
    ],
)  # fmt: skip
def test_organisations(one: dict[str, Any], other: dict[str, Any], joins: bool) -> None:
    match = compared("organisation", one, other)
    assert (match is not None and match.score >= JOINED) is joins, match


@pytest.mark.parametrize(
    "one, other, joins",
    [
        ({"name": "Green Roofs Grant 2025", "funder": "City of Bonn"}, {"name": "Green roofs grant 2026/27", "funder": "City of Bonn"}, True),
        ({"name": "Green Roofs Grant", "funder": "City of Bonn"}, {"name": "Green Roofs Grant", "funder": "City of Kiel"}, False),
        ({"name": "Start-up Grant", "region": "Bavaria"}, {"name": "Start-up Grant", "region": "Saxony"}, False),
        ({"name": "Green Roofs Grant", "deadline": "2026-05-01", "amount": 5000}, {"name": "Green Roofs Support Grant", "deadline": "2026-05-01", "amount": 5000}, True),
        ({"name": "Small grant"}, {"name": "Small grant"}, False),
    ],
)  # fmt: skip
def test_programs(one: dict[str, Any], other: dict[str, Any], joins: bool) -> None:
    match = compared("program", one, other)
    assert (match is not None and match.score >= JOINED) is joins, match


def test_places_are_written_in_many_ways() -> None:
    one = {"street": "Lange Straße 5", "postal_code": "53111", "locality": "Bonn"}
    other = {"street": "5 Lange Str.", "locality": "Bonn"}
    match = compared("place", one, other)
    assert match is not None
    assert match.score >= JOINED
    assert compared("place", one, {**other, "locality": "Kiel"}) is None


def test_what_contradicts_is_never_joined_through_a_third() -> None:
    """A and B agree with C, and contradict each other: C goes with the better one."""
    pairs = [ComparedPair(1, 3, 0.95), ComparedPair(2, 3, 0.93)]
    assert group([1, 2, 3], pairs, lambda a, b: {a, b} == {1, 2}) == [[1, 3], [2]]


def test_what_people_said_comes_first() -> None:
    pairs = [
        ComparedPair(1, 2, 1.0, "different"),
        ComparedPair(1, 3, 0.0, "same"),
        ComparedPair(2, 3, 0.99),
    ]
    assert group([1, 2, 3], pairs, lambda a, b: {a, b} == {1, 3}) == [[1, 3], [2]]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_goods_of_several_shops(seed: int) -> None:
    """Bars: precision at least 0.97 at a recall of at least 0.80."""
    random = Random(seed)
    listed = list(listings(goods(random, 50), random))
    kind = KINDS["product"]
    own = {n: features("product", n, each.shop, **each.data) for n, each in enumerate(listed)}
    holders: dict[str, list[int]] = {}
    for number, each in own.items():
        for key in set(kind.keys(each)):
            holders.setdefault(key, []).append(number)
    near = {pair for held in holders.values() for pair in combinations(held, 2)}
    found = {pair: kind.compare(own[pair[0]], own[pair[1]]) for pair in near}
    pairs = [ComparedPair(*pair, match.score) for pair, match in found.items() if match]

    def contradicts(one: int, other: int) -> bool:
        match = kind.compare(own[one], own[other])
        return match is not None and match.score == 0

    groups = group(own, pairs, contradicts)
    said = {pair for members in groups for pair in combinations(members, 2)}
    true = {p for p in combinations(own, 2) if listed[p[0]].thing == listed[p[1]].thing}
    assert len(true) > 200
    assert len(said & true) / len(said) >= 0.97
    assert len(said & true) / len(true) >= 0.80
