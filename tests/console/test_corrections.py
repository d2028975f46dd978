"""Corrections in the console: made beside the field, shown with the page's own words, withdrawn."""

from __future__ import annotations

import pytest
import pytest_asyncio

from messor.access.roles import Role
from messor.records import correction_queries, queries
from messor.store.database import Database
from tests.console.conftest import Enter, Visitor
from tests.harvested import Harvest, stock_shop


@pytest_asyncio.fixture(loop_scope="session")
async def shop(database: Database) -> Harvest:
    return await stock_shop(database)


async def test_a_reviewer_corrects_a_field_and_withdraws_it(
    reviewer: Visitor, shop: Harvest, database: Database
) -> None:
    record_id = await shop.record_id("product", "/kettle")
    path = f"/records/{record_id}"
    before = await queries.record(database, record_id)
    form = {
        "field": "product_name", "verdict": "value", "value": "<b>Pot</b>", "reason": "<i>typo</i>",
    }  # fmt: skip
    done = await reviewer.send(path, f"{path}/corrections", form)
    assert (done.status, done.place) == (303, path)
    page = await reviewer.get(path)
    assert "<b>Pot" not in page.text
    assert "<i>typo" not in page.text
    assert "The page states “Copper kettle”" in page.said
    assert (await queries.record(database, record_id)).data["product_name"] == "<b>Pot</b>"
    await reviewer.send(path, f"{path}/corrections", {"field": "sku", "verdict": "right"})
    await reviewer.send(path, f"{path}/corrections", {"field": "brand", "verdict": "none"})
    await reviewer.send(
        path, f"{path}/corrections", {"field": "color", "verdict": "value", "value": "red"}
    )
    listed = await reviewer.get("/corrections")
    assert listed.said.count("in force") >= 3
    made = await correction_queries.of_record(database, record_id)
    assert [(one.field, one.state) for one in made] == [
        ("color", "in_force"), ("brand", "in_force"), ("sku", "lesson"), ("product_name", "in_force"),
    ]  # fmt: skip
    for one in made:
        if one.state == "in_force":
            back = {"back": path}
            done = await reviewer.send(path, f"/corrections/{one.id}/withdraw", back)
            assert done.place == path
    assert (await queries.record(database, record_id)).data == before.data
    again = await reviewer.send(path, f"/corrections/{made[0].id}/withdraw", {})
    assert again.status == 422
    assert "not in force" in again.said


async def test_a_product_is_corrected_on_its_own_page(
    reviewer: Visitor, shop: Harvest, database: Database
) -> None:
    record_id, product_id = (
        await shop.record_id("product", "/kettle"),
        await shop.product_id("/kettle"),
    )
    path = f"/products/{product_id}"
    form = {"field": "price", "verdict": "value", "value": "47.50", "back": path}
    done = await reviewer.send(path, f"/records/{record_id}/corrections", form)
    assert (done.status, done.place) == (303, path)
    page = await reviewer.get(path)
    assert "47.50" in page.said
    assert "The page states “49.9”" in page.said
    elsewhere = {**form, "value": "48.50", "back": "//evil.example/products/1"}
    done = await reviewer.send(path, f"/records/{record_id}/corrections", elsewhere)
    assert done.place == f"/records/{record_id}"


@pytest.mark.parametrize(
    "form, word",
    [
        ({"field": "price", "verdict": "value", "value": " "}, "Enter a value"),
        (
            {"field": "price", "verdict": "value", "value": "abc"},
            "is not a valid price of a product",
        ),
        (
            {"field": "availability", "verdict": "value", "value": "maybe"},
            "is not a valid availability",
        ),
        ({"field": "smell", "verdict": "right"}, "no field"),
        ({"field": "price", "verdict": "maybe"}, "Choose a correction"),
        ({"field": "seller", "verdict": "right"}, "states no seller to confirm"),
    ],
)
async def test_what_makes_no_sense_is_told_on_the_page(
    reviewer: Visitor, shop: Harvest, database: Database, form: dict[str, str], word: str
) -> None:
    record_id = await shop.record_id("product", "/kettle")
    path = f"/records/{record_id}"
    refused = await reviewer.send(path, f"{path}/corrections", form)
    assert refused.status == 422
    assert word in refused.said
    assert await correction_queries.of_record(database, record_id) == []


async def test_only_reviewers_correct(
    console: str, enter: Enter, reviewer: Visitor, shop: Harvest
) -> None:
    viewer = await enter(console, Role.VIEWER)
    for path in (
        f"/records/{await shop.record_id('contact', '/contact')}",
        f"/records/{await shop.record_id('product', '/kettle')}",
        f"/products/{await shop.product_id('/kettle')}",
    ):
        assert 'name="verdict"' in (await reviewer.get(path)).text
        assert 'name="verdict"' not in (await viewer.get(path)).text
