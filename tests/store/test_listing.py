"""The list builder: filters, orders, cursors and counts, on a table of its own."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Literal

import pytest
from pydantic import ValidationError

from messor.errors import UsageError
from messor.store.database import Database
from messor.store.listing import (
    DomainText,
    Filters,
    Listing,
    Order,
    both_ways,
    domain_of,
    where,
)


@dataclass(frozen=True, slots=True)
class Fruit:
    id: int
    name: str
    weight: float | None
    twice: float | None


class FruitFilter(Filters):
    q: str | None = where("strpos(f.name, {}) > 0", "Part of the name")
    min_weight: float | None = where("f.weight >= {}", "Minimum weight", ge=0)
    view: Literal["light", "any"] | None = where({"light": "f.weight < 3", "any": ""}, "View")


FRUITS = Listing(
    name="fruits",
    item=Fruit,
    filters=FruitFilter,
    table="messor.fruits",
    alias="f",
    columns="f.id, f.name, f.weight, w.twice",
    joins="CROSS JOIN LATERAL (SELECT f.weight * 2 AS twice) w",
    orders={
        **both_ways("name", "f.name", "text", "A to Z", "Z to A"),
        "heaviest": Order("coalesce(f.weight, -1)", "float8", "Heaviest first", descending=True),
    },
)


@pytest.fixture
async def fruits(database: Database) -> list[Fruit]:
    await database.fetch(
        "CREATE TABLE messor.fruits (id bigint PRIMARY KEY, name text NOT NULL, weight float8)"
    )
    rows = [
        (n, random.Random(n).choice("abc") * 3, None if n % 7 == 0 else n % 5) for n in range(40)
    ]
    for row in rows:
        await database.fetch("INSERT INTO messor.fruits VALUES ($1, $2, $3)", *row)
    return [Fruit(n, name, w, None if w is None else w * 2) for n, name, w in rows]


async def everything(database: Database, filters: FruitFilter, order: str) -> list[Fruit]:
    found, cursor = [], None
    while True:
        page = await FRUITS.read(database, filters, order=order, cursor=cursor, limit=7)
        assert len(page.items) <= 7
        found += page.items
        if (cursor := page.next) is None:
            return found


@pytest.mark.parametrize("order", FRUITS.orders)
async def test_pages_hold_every_row_once_and_in_order(
    database: Database, fruits: list[Fruit], order: str
) -> None:
    keys = {
        "name": lambda one: (one.name, one.id),
        "-name": lambda one: (one.name, one.id),
        "heaviest": lambda one: (-1 if one.weight is None else one.weight, one.id),
    }
    expected = sorted(fruits, key=keys[order], reverse=order != "name")
    assert await everything(database, FruitFilter(), order) == expected
    assert [one async for one in FRUITS.all(database, FruitFilter(), order=order)] == expected


async def test_filters_narrow_the_list_and_its_count(
    database: Database, fruits: list[Fruit]
) -> None:
    filters = FruitFilter(q="a", min_weight=2, view="light")
    expected = [one for one in fruits if one.name == "aaa" and one.weight == 2]
    assert expected
    assert sorted(await everything(database, filters, "name"), key=lambda one: one.id) == expected
    assert await FRUITS.count(database, filters) == len(expected)
    assert await FRUITS.count(database, FruitFilter(view="any")) == len(fruits)
    assert await FRUITS.count(database, FruitFilter(), most=10) == 11


async def test_a_bounded_scan_finds_everything_over_short_pages(
    database: Database, fruits: list[Fruit]
) -> None:
    scanning = replace(FRUITS, scan=9)
    filters = FruitFilter(min_weight=4, view="any")
    found: list[Fruit] = []
    cursor, pages = None, 0
    while True:
        page = await scanning.read(database, filters, order="-name", cursor=cursor, limit=3)
        found, cursor, pages = [*found, *page.items], page.next, pages + 1
        if cursor is None:
            break
    assert found == await everything(database, filters, "-name")
    assert pages > len(fruits) // 9


async def test_a_cursor_belongs_to_its_filters_and_order(
    database: Database, fruits: list[Fruit]
) -> None:
    cursor = (await FRUITS.read(database, FruitFilter(), limit=1)).next
    assert cursor is not None
    for filters, order, text in (
        (FruitFilter(q="a"), "name", cursor),
        (FruitFilter(), "-name", cursor),
        (FruitFilter(), "name", cursor[:-3]),
        (FruitFilter(), "name", "é"),
    ):
        with pytest.raises(UsageError, match="cursor is invalid"):
            await FRUITS.read(database, filters, order=order, cursor=text)
    with pytest.raises(UsageError, match="worst is not an order of fruits"):
        await FRUITS.read(database, FruitFilter(), order="worst")


def test_unknown_filters_and_values_out_of_range_are_refused() -> None:
    with pytest.raises(ValidationError):
        FruitFilter.model_validate({"colour": "red"})
    with pytest.raises(ValidationError):
        FruitFilter(min_weight=-1)


class OfDomain(Filters):
    domain: DomainText | None = where("d = {}", "Domain")


def test_a_domain_may_be_given_as_a_host_or_url() -> None:
    for text in ("example.org", "https://www.example.org/a?b", " WWW.Example.org "):
        assert domain_of(text) == "example.org"
        assert OfDomain(domain=text).domain == "example.org"
    with pytest.raises(ValidationError, match="is not a domain such as"):
        OfDomain(domain="no domain")
