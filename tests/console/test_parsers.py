"""Parsers in the console: versions, health, pins, and the trials that people decide on."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from messor.access.roles import Role
from messor.content.products.generic import VERSION
from messor.parsers import pins
from messor.store.database import Database
from simweb import SimResponse as Reply
from simweb.documents import HTML
from tests.console.conftest import Enter, Visitor
from tests.extraction.test_extract import opened_bench
from tests.extraction.test_extract import product as product_page
from tests.harvested import Harvest, add_trial, contact_html, open_harvest, product_html, stock_shop

ACTS = ("promote", "reject", "roll_back")


@pytest_asyncio.fixture(loop_scope="session")
async def rebuilt(database: Database) -> Harvest:
    """A shop that lost its products while its pages stayed."""
    shop = await stock_shop(database)
    for number in range(6):
        html = product_html(f"Item {number}", sku=f"I-{number}")
        await shop.see(f"/{number}", html, timedelta(days=6))
        await shop.see(f"/{number}", contact_html(), timedelta(hours=3))
    return shop


async def test_versions_health_and_losses(reviewer: Visitor, rebuilt: Harvest) -> None:
    page = await reviewer.get("/parsers")
    for words in ("products", "generic", "amazon", "active", "6 lost", "3 retained, 33 %",
                  "products lost 6 of its product records"):  # fmt: skip
        assert words in page.said, words
    assert 'role="img" aria-label="' in page.text
    assert "lost on pages that still exist, in 30 days" in page.said
    assert "?domain=shop.example&amp;kind=product&amp;state=removed" in page.text
    one = await reviewer.get("/parsers?parser=amazon")
    assert "No changes in 30 days" in one.said


async def test_a_version_is_pinned_and_the_pin_lifted(
    reviewer: Visitor, database: Database
) -> None:
    await open_harvest(database)
    form = {"act": "pin", "version": f"products={VERSION}", "domain": "Shop.example "}
    done = await reviewer.send("/parsers", "/parsers/pins", form)
    assert (
        f"products {VERSION} is now used for pages of shop.example"
        in (await reviewer.get(done.place)).said
    )
    (pin,) = await pins.listing(database)
    assert (pin.parser, pin.domain) == ("products", "shop.example")
    assert reviewer.member is not None
    assert pin.pinned_by == f"member:{reviewer.member.id}"
    lift = {"act": "lift", "parser": "products", "domain": "shop.example"}
    done = await reviewer.send("/parsers", "/parsers/pins", lift)
    assert "the newest version is now used" in (await reviewer.get(done.place)).said
    assert await pins.listing(database) == []
    kinds = [row["type"] for row in await database.fetch("SELECT type FROM messor.events")]
    assert {"parser.pinned", "parser.unpinned"} <= set(kinds)


@pytest.mark.parametrize(
    "form, words",
    [
        ({"act": "pin", "version": "products=none"}, "There is no version 'none' of products"),
        ({"act": "pin", "version": "nothing=1"}, "There is no parser called 'nothing'"),
        ({"act": "pin", "version": "products=1", "domain": "x.org"}, "x.org"),
        ({"act": "lift", "parser": "products"}, "No version of products is pinned there."),
    ],
)
async def test_what_cannot_be_pinned_is_said(
    form: dict[str, str], words: str, reviewer: Visitor, database: Database
) -> None:
    done = await reviewer.send("/parsers", "/parsers/pins", form)
    assert words in (await reviewer.get(done.place)).said
    assert await pins.listing(database) == []


async def test_a_trial_is_read_promoted_and_rolled_back(
    reviewer: Visitor, database: Database
) -> None:
    path = f"/parsers/trials/{await add_trial(database, version=VERSION)}"
    listed = await reviewer.get("/parsers")
    assert path in listed.text
    assert "95.6 % 1 23" in " ".join(listed.said.split())  # agreement, values lost and gained
    page = await reviewer.get(path)
    for words in ("93.8 %", "99.0 %", "was 97.0", "100.0 %", "was 66.7", "59.9", "4 values"):
        assert words in page.said, words
    assert "Domains most differences first" in page.said
    assert 'href="/domains/shop.example"' in page.text
    done = await reviewer.send(
        path, f"{path}/decide", {"act": "promote", "reason": "It is better."}
    )
    page = await reviewer.get(done.place)
    assert f"products {VERSION} was promoted." in page.said
    assert "It is better." in page.said
    assert [pin.version for pin in await pins.listing(database)] == [VERSION]
    again = await reviewer.send(path, f"{path}/decide", {"act": "promote"})
    assert "it cannot be promoted" in (await reviewer.get(again.place)).said
    unsaid = await reviewer.send(path, f"{path}/decide", {"act": "roll_back"})
    assert "A reason is required" in (await reviewer.get(unsaid.place)).said
    form = {"act": "roll_back", "reason": "Prices went wrong."}
    done = await reviewer.send(path, f"{path}/decide", form)
    assert "was rolled back" in (await reviewer.get(done.place)).said
    assert await pins.listing(database) == []


async def test_a_version_that_is_gone_is_not_promoted(
    reviewer: Visitor, database: Database
) -> None:
    path = f"/parsers/trials/{await add_trial(database, version='0rc1')}"
    done = await reviewer.send(path, f"{path}/decide", {"act": "promote"})
    assert "There is no version '0rc1' of products" in (await reviewer.get(done.place)).said
    assert await pins.listing(database) == []


async def test_only_what_reads_is_rolled_back(reviewer: Visitor, database: Database) -> None:
    path = f"/parsers/trials/{await add_trial(database, version=VERSION)}"
    await reviewer.send(path, f"{path}/decide", {"act": "promote"})
    async with database.transaction() as connection:
        await pins.pin(connection, "products", "0", domain_id=None, actor="another")
    form = {"act": "roll_back", "reason": "Prices went wrong."}
    done = await reviewer.send(path, f"{path}/decide", form)
    assert "is no longer in use there (0 is pinned)" in (await reviewer.get(done.place)).said
    assert [pin.version for pin in await pins.listing(database)] == ["0"]
    async with database.transaction() as connection:
        await pins.pin(connection, "products", "0", domain_id=None, actor="another")  # once more
        await pins.lift(connection, "products", domain_id=None, actor="another")
    done = await reviewer.send(path, f"{path}/decide", form)
    assert "was rolled back" in (await reviewer.get(done.place)).said
    assert await pins.listing(database) == []


async def test_a_trial_is_rejected_with_a_reason(reviewer: Visitor, database: Database) -> None:
    path = f"/parsers/trials/{await add_trial(database)}"
    await reviewer.send(path, f"{path}/decide", {"act": "reject", "reason": "It loses brands."})
    page = await reviewer.get(path)
    assert "rejected" in page.said
    assert "It loses brands." in page.said
    assert "Promote" not in page.said
    assert await pins.listing(database) == []


async def test_a_version_shadows_and_is_decided_on(reviewer: Visitor, database: Database) -> None:
    await open_harvest(database, "kettles.example")
    form = {"act": "shadow", "version": f"products={VERSION}", "domain": ""}
    done = await reviewer.send("/parsers", "/parsers/pins", form)
    assert "started for all domains" in (await reviewer.get(done.place)).said
    page = await reviewer.get("/parsers")
    assert "shadowing" in page.said
    assert "0 of 1,000" in page.said
    done = await reviewer.send("/parsers", "/parsers/pins", form)
    assert "is already running there" in (await reviewer.get(done.place)).said
    for wrong, said in (
        ({"version": "products=none"}, "none"),
        ({"domain": "x.example"}, "x.example"),
    ):
        done = await reviewer.send("/parsers", "/parsers/pins", {**form, **wrong})
        assert said in (await reviewer.get(done.place)).said
    path = f"/parsers/trials/{await database.fetchval('SELECT id FROM messor.parser_trials')}"
    page = await reviewer.get(path)
    assert "0 of 1,000, as they are crawled" in page.said
    done = await reviewer.send(path, f"{path}/decide", {"act": "promote"})
    assert "compared no page yet" in (await reviewer.get(done.place)).said
    await reviewer.send(path, f"{path}/decide", {"act": "reject", "reason": "Not now."})
    assert "rejected" in (await reviewer.get(path)).said


async def test_viewers_look_but_do_not_decide(
    console: str, enter: Enter, database: Database
) -> None:
    viewer = await enter(console, Role.VIEWER)
    path = f"/parsers/trials/{await add_trial(database)}"
    page = await viewer.get(path)
    assert "Only reviewers and admins can decide." in page.said
    assert "/decide" not in page.text
    assert "Pin a version" not in (await viewer.get("/parsers")).said
    token = await viewer.token("/parsers")
    for act in ACTS:
        assert (await viewer.post(f"{path}/decide", {"act": act}, csrf=token)).status == 403
    assert (await viewer.post("/parsers/pins", {"act": "pin"}, csrf=token)).status == 403
    state = await database.fetchval("SELECT state FROM messor.parser_trials")
    assert state == "compared"


async def test_trials_that_are_not_there(reviewer: Visitor) -> None:
    for path in ("/parsers/trials/x", "/parsers/trials/019a8a3e-5f2b-7c11-8d4e-0242ac120002"):
        assert (await reviewer.get(path)).status == 404
    assert (await reviewer.get("/parsers/repairs/nobody.example")).status == 404
    page = await reviewer.get("/parsers")
    assert "messor parsers compare" in page.said


def _moved(price: str, name: str) -> Reply:
    """The same shop after it was rebuilt: nothing of it stands where it stood."""
    body = (
        f"<!doctype html><html lang=en><title>x</title><div class='pname'>{name}</div>"
        f"<div class='pcost'>{price}</div><p>{'It boils water. ' * 30}</p></html>"
    )
    return Reply(200, (("Content-Type", HTML),), body.encode())


async def test_repairs_are_proposed_for_what_was_lost(
    tmp_path: Path, dsn: str, reviewer: Visitor
) -> None:
    rooms = {
        f"k{number}": product_page(f"1{number}.90", name=f"Kettle {number}") for number in (1, 2)
    }
    async with opened_bench(tmp_path, dsn, **rooms) as bench:
        await bench.crawl()
        await bench.extract()
        for number in (1, 2):
            bench.set(f"/k{number}", _moved(f"1{number}.90", f"Kettle {number}"))
        await bench.crawl()
        await bench.extract()
        lost = await bench.rows("SELECT count(*) FROM messor.records WHERE state = 'removed'")
        assert lost[0]["count"] >= 2
    (tmp_path / "archive").symlink_to(bench.settings.data_dir / "archive")  # the console's own
    page = await reviewer.get("/parsers/repairs/shop.example")
    assert page.status == 200
    assert "div.pname" in page.said
    assert "2 of 2 pages" in page.said
