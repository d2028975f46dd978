"""Each condition tells what it should, once, and nothing else."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from messor.errors import UsageError
from messor.governance import erasure
from messor.records import corrections
from messor.store.database import Connection, Database
from messor.watches.evaluate import evaluate
from messor.watches.preview import preview
from messor.watches.second_look import look_again
from tests.harvested import Harvest, open_harvest, product_html
from tests.watches.conftest import alerts, evaluate_all, watch_for


async def shop_of(database: Database, **kettle: Any) -> Harvest:
    shop = await open_harvest(database)
    await shop.see("/kettle", product_html(**kettle), timedelta(hours=2))
    await evaluate_all(database)
    return shop


@pytest.mark.parametrize(
    "condition, then, message",
    [
        ({"when": "changed"}, {"price": "39.90"}, "Changed: Copper kettle: price 49.9 → 39.9"),
        ({"when": "falls", "field": "price", "percent": 20}, {"price": "39.90"},
         "Copper kettle: price 49.9 → 39.9, a fall of 20 %"),
        ({"when": "crosses", "field": "price", "value": 40}, {"price": "39.90"},
         "Copper kettle: price 49.9 → 39.9, below 40"),
        ({"when": "out_of_stock"}, {"stock": "OutOfStock"}, "Out of stock: Copper kettle"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("noun", ["products", "records"])
async def test_a_change_is_told(
    database: Database, noun: str, condition: dict[str, Any], then: dict[str, Any], message: str
) -> None:
    shop = await shop_of(database)
    await watch_for(database, noun, condition, filters={"domain": "shop.example"})
    await shop.see("/kettle", product_html(**then))
    await evaluate_all(database)
    (alert,) = await alerts(database)
    assert (alert.message, alert.state) == (message, "due")
    assert alert.details["evidence"]["fields"]
    assert alert.url == "https://shop.example/kettle"


async def test_a_persons_correction_is_no_change_of_the_web(database: Database) -> None:
    shop = await shop_of(database)
    await watch_for(database, "products", {"when": "changed"}, filters={"domain": "shop.example"})
    record_id = await shop.record_id("product", "/kettle")
    async with database.transaction() as connection:
        await corrections.correct(connection, record_id, "price", "9.90", actor="ann")
    await evaluate_all(database)
    assert await alerts(database) == []


@pytest.mark.parametrize(
    "condition, then",
    [
        ({"when": "falls", "field": "price", "percent": 21}, {"price": "39.90"}),
        ({"when": "falls", "field": "price", "percent": 5}, {"price": None}),  # no price is no fall
        ({"when": "crosses", "field": "price", "value": 30}, {"price": "39.90"}),
        ({"when": "out_of_stock"}, {"price": "39.90"}),
        ({"when": "new"}, {"price": "39.90"}),
        ({"when": "changed", "field": "brand"}, {"price": "39.90"}),
    ],
)  # fmt: skip
async def test_what_does_not_hold_is_not_told(
    database: Database, condition: dict[str, Any], then: dict[str, Any]
) -> None:
    shop = await shop_of(database)
    await watch_for(database, "products", condition)
    await shop.see("/kettle", product_html(**then))
    await evaluate_all(database)
    assert await alerts(database) == []


async def test_new_and_removed_things(database: Database) -> None:
    await watch_for(database, "products", {"when": "new"})
    await watch_for(database, "products", {"when": "removed"})
    shop = await open_harvest(database)
    await shop.see("/kettle", product_html(), timedelta(hours=1))
    await shop.see("/kettle", None)
    await evaluate_all(database)
    assert {one.message for one in await alerts(database)} == {
        "New: Copper kettle", "Removed: Copper kettle",
    }  # fmt: skip


async def test_the_filters_of_the_list_apply(database: Database) -> None:
    await watch_for(database, "products", {"when": "new"}, filters={"brand": "Acme"}, name="a")
    await watch_for(database, "products", {"when": "new"}, filters={"min_price": "50"}, name="b")
    await watch_for(database, "products", {"when": "new"}, filters={"q": "KETTLE"}, name="c")
    await watch_for(database, "products", {"when": "new"}, filters={"domain": "b.example"})
    await watch_for(database, "records", {"when": "new"}, filters={"kind": "contact"})
    await watch_for(database, "pages", {"when": "changed"}, filters={"q": "/kettle"}, name="p")
    await watch_for(database, "domains", {"when": "new"}, filters={"status": "approved"}, name="d")
    shop = await open_harvest(database)
    await shop.see("/kettle", product_html(price="49.90"))
    await evaluate_all(database)
    rows = await database.fetch(
        """SELECT w.name FROM messor.watch_alerts a JOIN messor.watches w ON w.id = a.watch_id
            ORDER BY 1"""
    )
    assert [row["name"] for row in rows] == ["a", "c", "d", "p"]


@pytest.mark.parametrize("noun", ["products", "records", "pages", "domains"])
async def test_a_single_thing_is_watched(database: Database, noun: str) -> None:
    shop = await open_harvest(database)
    for name in ("/kettle", "/cup"):
        await shop.see(name, product_html(name, sku=name))
    page_id = await database.fetchval("SELECT id FROM messor.pages WHERE url LIKE '%/kettle'")
    one: dict[str, Any] = {"domain": "shop.example"}
    if noun != "domains":
        one = {"id": page_id}
    if noun in ("products", "records"):
        one["id"] = await database.fetchval(
            f"SELECT q.id FROM messor.{noun} q JOIN messor.pages p ON p.id = q.page_id WHERE p.id = $1 LIMIT 1",
            page_id,
        )
    await evaluate_all(database)
    await watch_for(database, noun, {"when": "removed"}, filters=one)
    async with database.transaction() as connection:
        await erasure.erase_url(connection, "https://shop.example/cup", actor="ann", reason="asked")
    await evaluate_all(database)
    assert await alerts(database) == []
    async with database.transaction() as connection:
        await erasure.erase_domain(connection, "shop.example", actor="ann", reason="asked")
    await evaluate_all(database)
    assert len(await alerts(database)) == 1


async def test_a_batch_is_told_once_however_often_it_is_evaluated(database: Database) -> None:
    shop = await shop_of(database)
    await watch_for(database, "products", {"when": "changed"})
    await shop.see("/kettle", product_html(price="39.90"))
    await evaluate_all(database)
    await database.fetch("UPDATE messor.watch_position SET tx = '0', change_id = 0")
    await evaluate_all(database)
    assert len(await alerts(database)) == 1


async def test_what_changed_before_it_was_switched_on_is_not_told(database: Database) -> None:
    shop = await shop_of(database)
    await shop.see("/kettle", product_html(price="39.90"))
    await watch_for(database, "products", {"when": "changed"})
    await evaluate_all(database)
    assert await alerts(database) == []


async def test_after_a_long_standstill_what_is_kept_is_told(database: Database) -> None:
    shop = await shop_of(database)
    await watch_for(database, "products", {"when": "changed"})
    await shop.see("/kettle", product_html(price="39.90"))
    await database.fetch("UPDATE messor.watch_position SET tx = '1', change_id = 1")
    await evaluate_all(database)
    assert len(await alerts(database)) == 1


async def test_a_watch_switched_off_tells_nothing_but_shows_what_it_would(
    database: Database,
) -> None:
    shop = await shop_of(database)
    watch = await watch_for(database, "products", {"when": "changed"}, on=False)
    await shop.see("/kettle", product_html(price="39.90"))
    await evaluate_all(database)
    assert await alerts(database) == []
    (told,) = await preview(database, watch)
    assert told.message == "Changed: Copper kettle: price 49.9 → 39.9"


@pytest.mark.parametrize("price", ["499.00", "4.99"])
async def test_an_odd_jump_waits_for_a_second_look(database: Database, price: str) -> None:
    shop = await shop_of(database)
    await watch_for(database, "products", {"when": "changed"})
    await shop.see("/kettle", product_html(price=price))
    await evaluate_all(database)
    assert [one.state for one in await alerts(database)] == ["held"]
    await look_again(database)
    due = await database.fetchval("SELECT due_at <= messor.clock() FROM messor.crawl_tasks")
    assert due
    await look_again(database)
    assert [one.state for one in await alerts(database)] == ["held"]
    await database.fetch("UPDATE messor.crawl_tasks SET last_fetched_at = messor.clock()")
    await look_again(database)
    assert [one.state for one in await alerts(database)] == ["due"]


async def test_an_odd_jump_that_was_a_fault_is_never_told(database: Database) -> None:
    shop = await shop_of(database)
    await watch_for(database, "products", {"when": "falls", "field": "price", "percent": 10})
    await shop.see("/kettle", product_html(price="4.99"), timedelta(hours=1))
    await evaluate_all(database)
    await look_again(database)
    await shop.see("/kettle", product_html(price="49.90"))
    await database.fetch("UPDATE messor.crawl_tasks SET last_fetched_at = messor.clock()")
    await evaluate_all(database)
    await look_again(database)
    assert [one.state for one in await alerts(database)] == ["dropped"]


async def test_another_currency_and_all_prices_at_once_are_odd(database: Database) -> None:
    shop = await shop_of(database)
    await watch_for(database, "products", {"when": "changed"})
    await shop.see("/kettle", product_html(currency="USD"), timedelta(minutes=30))
    for n in range(12):
        await shop.see(f"/{n}", product_html(f"Cup {n}", sku=f"{n}"), timedelta(minutes=20))
    await evaluate_all(database)
    for n in range(12):
        await shop.see(f"/{n}", product_html(f"Cup {n}", "45.00", sku=f"{n}"))
    await evaluate_all(database)
    told = await alerts(database)
    assert len(told) == 13
    assert {one.state for one in told} == {"held"}


async def test_the_number_of_statements_does_not_depend_on_the_watches(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 0
    real = Connection.fetch

    async def counted(self: Connection, sql: str, *args: Any) -> Any:
        nonlocal count
        count += 1
        return await real(self, sql, *args)

    monkeypatch.setattr(Connection, "fetch", counted)
    shop = await shop_of(database)
    counts = []
    for watches in (1, 40):
        for n in range(watches):
            await watch_for(database, "products", {"when": "changed"}, filters={"q": f"k{n % 7}"})
        await shop.see(
            "/kettle", product_html(price=f"{30 + watches}.00"), timedelta(minutes=-watches)
        )
        count = 0
        await evaluate(database)
        counts.append(count)
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    "noun, condition, more, words",
    [
        ("products", {"when": "falls", "field": "price"}, {}, "falls needs percent"),
        ("pages", {"when": "out_of_stock"}, {}, "applies to products, records"),
        ("products", {"when": "new"}, {"filters": {"colour": "red"}}, "colour"),
        ("products", {"when": "soon"}, {}, "when:"),
        ("products", {"when": "new"}, {"channel": "mail"}, "needs a recipient"),
        ("products", {"when": "new"}, {"channel": "webhook"}, "id of a webhook"),
        ("products", {"when": "new"}, {"zone": "Mars/Base"}, "not a time zone"),
        ("products", {"when": "new"}, {"quiet_from": 22}, "quiet hours need"),
        ("ranks", {"when": "rank_lost"}, {}, "Name the domain"),
    ],
)
async def test_bad_input_gets_a_sentence(
    database: Database, noun: str, condition: dict[str, Any], more: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        await watch_for(database, noun, condition, **more)
