"""Corrections in the console: said by reviewers, shown beside the record, refused in sentences."""

from __future__ import annotations

import pytest
import pytest_asyncio

from messor.access.roles import Role
from messor.records import corrections, queries
from messor.store.database import Database
from tests.console.conftest import Enter, Visitor
from tests.harvested import Harvest, stock_shop


@pytest_asyncio.fixture(loop_scope="session")
async def shop(database: Database) -> Harvest:
    return await stock_shop(database)


async def test_a_reviewer_corrects_a_field_and_the_record_stays(
    reviewer: Visitor, shop: Harvest, database: Database
) -> None:
    record_id = await shop.record_id("product", "/kettle")
    path = f"/records/{record_id}"
    before = await queries.record(database, record_id)
    form = {"field": "price", "verdict": "value", "value": "<b>47.50</b>"}
    done = await reviewer.send(path, f"{path}/corrections", form)
    assert (done.status, done.place) == (303, path)
    page = await reviewer.get(path)
    assert "should be <strong" in page.text
    assert "<b>47.50</b>" in page.said
    assert "<b>47.50" not in page.text
    assert await queries.record(database, record_id) == before
    await reviewer.send(path, f"{path}/corrections", {"field": "price", "verdict": "right"})
    (said,) = await corrections.listing(database, record_id=record_id)
    assert said.correct == said.found
    await reviewer.send(path, f"{path}/corrections", {"field": "gtin", "verdict": "none"})
    assert "is not stated" in (await reviewer.get(path)).said


@pytest.mark.parametrize(
    "form, word",
    [
        ({"field": "price", "verdict": "value", "value": " "}, "1 to 4,000"),
        ({"field": "price", "verdict": "value", "value": "abc"}, "is not a valid product price"),
        (
            {"field": "availability", "verdict": "value", "value": "maybe"},
            "is not a valid product avail",
        ),
        ({"field": "smell", "verdict": "right"}, "no field"),
        ({"field": "price", "verdict": "maybe"}, "Choose a correction"),
        ({"field": "size", "verdict": "right"}, "has no size to confirm"),
    ],
)
async def test_what_makes_no_sense_is_told_on_the_page(
    reviewer: Visitor, shop: Harvest, database: Database, form: dict[str, str], word: str
) -> None:
    path = f"/records/{await shop.record_id('product', '/kettle')}"
    refused = await reviewer.send(path, f"{path}/corrections", form)
    assert refused.status == 422
    assert word in refused.said
    assert await corrections.listing(database) == []


async def test_only_products_can_be_corrected_and_only_by_reviewers(
    console: str, enter: Enter, reviewer: Visitor, shop: Harvest
) -> None:
    viewer = await enter(console, Role.VIEWER)
    contact = f"/records/{await shop.record_id('contact', '/contact')}"
    assert "Corrections" not in (await reviewer.get(contact)).said
    product = f"/records/{await shop.record_id('product', '/kettle')}"
    assert 'name="verdict"' not in (await viewer.get(product)).text
