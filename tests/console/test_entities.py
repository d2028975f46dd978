"""Things in the console: lists by kind, one thing with what each site states, and decisions."""

from __future__ import annotations

import re

import pytest_asyncio

from messor.access.roles import Role
from messor.entities.follow import follow
from messor.store.database import Database
from tests.console.conftest import Enter, Visitor
from tests.harvested import open_harvest, product_html


@pytest_asyncio.fixture(loop_scope="session")
async def shops(database: Database) -> None:
    one = await open_harvest(database, "one.example")
    other = await open_harvest(database, "two.example")
    await one.see("/k", product_html("Acme <b>Kettle</b> KX-200B", sku="1"))
    await one.see("/r", product_html("Acme Kettle KX-200B red", sku="2"))
    await other.see("/k", product_html("Acme Kettle KX-200B", "45.00", sku="3"))
    await follow(database)


async def test_a_thing_shows_every_shop_and_why(reviewer: Visitor, shops: None) -> None:
    listed = await reviewer.get("/entities?kind=product&min_domains=2")
    (path,) = set(re.findall(r'href="(/entities/\d+)"', listed.text))
    page = await reviewer.get(path)
    for words in (
        "one.example",
        "two.example",
        "49.90 EUR",
        "45 EUR",
        "number kx200b",
        "2 sites agree",
    ):
        assert words in page.said, words
    assert "<b>Kettle" not in page.text


async def test_a_reviewer_decides_a_proposal_takes_out_and_merges(
    reviewer: Visitor, shops: None
) -> None:
    asked = await reviewer.get("/entities/proposals")
    action = re.findall(r'action="(/entities/proposals/\d+)"', asked.text)[0]
    wrong = await reviewer.send("/entities/proposals", action, {"verdict": "perhaps"})
    assert (wrong.status, "The verdict is same or different." in wrong.said) == (422, True)
    done = await reviewer.send("/entities/proposals", action, {"verdict": "same"})
    assert (done.status, done.place) == (303, "/entities/proposals")
    listed = await reviewer.get("/entities?kind=product")
    (path,) = set(re.findall(r'href="(/entities/\d+)"', listed.text))
    page = await reviewer.get(path)
    assert "The reviewer decided" in page.said
    statement = re.findall(r'name="statement_id" value="(\d+)"', page.text)[-1]
    out = await reviewer.send(path, f"{path}/split", {"statement_id": statement})
    assert out.place == path
    two = set(
        re.findall(r'href="/entities/(\d+)"', (await reviewer.get("/entities?kind=product")).text)
    )
    assert len(two) >= 2
    refused = await reviewer.send(path, f"{path}/merge", {"with_id": "x"})
    assert (refused.status, "Give the number of the other thing" in refused.said) == (422, True)
    other = min(two - {path.rpartition("/")[2]})
    assert (await reviewer.send(path, f"{path}/merge", {"with_id": other})).status == 303


async def test_a_viewer_only_reads(console: str, enter: Enter, shops: None) -> None:
    viewer = await enter(console, Role.VIEWER)
    page = await viewer.get("/entities/proposals")
    assert '<form method="post" action="/entities' not in page.text
    assert (await viewer.get("/entities?kind=product&q=zzz")).said.count("No matching things") == 1


async def test_a_product_shows_its_price_elsewhere(
    reviewer: Visitor, shops: None, database: Database
) -> None:
    found = await database.fetchrow(
        """SELECT q.id, q.record_id FROM messor.products q JOIN messor.domains d ON d.id = q.domain_id
            WHERE d.domain = 'two.example'"""
    )
    assert found is not None
    page = await reviewer.get(f"/products/{found['id']}")
    assert "In other shops" in page.said
    assert "49.90 EUR +10.9 %" in page.said
    record = await reviewer.get(f"/records/{found['record_id']}")
    assert "product on 2 sites" in record.said
