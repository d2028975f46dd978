"""Watches in the console: from a list's "Watch this" to a preview, switched on, and removed."""

from __future__ import annotations

import re

from messor.store.database import Database
from tests.console.conftest import Visitor
from tests.harvested import stock_shop


async def test_watch_this(admin: Visitor, database: Database) -> None:
    await stock_shop(database)
    page = await admin.get("/products?brand=Acme")
    link = re.search(r'href="(/watches/new\?[^"]+)"', page.text)
    assert link
    form = await admin.get(link[1].replace("&amp;", "&"))
    assert (form.status, 'value="Acme"' in form.text) == (200, True)
    given = {
        "noun": "products", "name": "Kettles", "filter_brand": "Acme", "when": "changed",
        "channel": "feed", "digest": "at_once", "zone": "UTC",
    }  # fmt: skip
    made = await admin.send("/watches/new", "/watches", given)
    assert "Changed: Copper kettle: price" in made.text
    assert "/api/v1/watches/feeds/" in made.text
    watch_id = await database.fetchval("SELECT id FROM messor.watches")
    await admin.send(f"/watches/{watch_id}", f"/watches/{watch_id}", {"act": "on"})
    assert await database.fetchval("SELECT is_active FROM messor.watches")
    assert "Kettles" in (await admin.get("/watches")).text
    await admin.send(f"/watches/{watch_id}", f"/watches/{watch_id}", {"act": "remove"})
    assert await database.fetchval("SELECT count(*) FROM messor.watches") == 0


async def test_a_single_thing_has_it_too(admin: Visitor, database: Database) -> None:
    await stock_shop(database)
    row = await database.fetchrow("SELECT id, record_id, page_id FROM messor.products LIMIT 1")
    assert row is not None
    for path, noun, key in (
        (f"/products/{row['id']}", "products", row["id"]),
        (f"/records/{row['record_id']}", "records", row["record_id"]),
        (f"/pages/{row['page_id']}", "pages", row["page_id"]),
    ):
        link = f"/watches/new?noun={noun}&amp;id={key}"
        assert link in (await admin.get(path)).text
        form = await admin.get(link.replace("&amp;", "&"))
        assert f'name="filter_id" type="text"\n      value="{key}"' in form.text
    domain = await database.fetchval("SELECT domain FROM messor.domains")
    link = f"/watches/new?noun=domains&amp;domain={domain}"
    assert link in (await admin.get(f"/domains/{domain}")).text


async def test_a_faulty_watch_is_asked_for_again(admin: Visitor) -> None:
    given = {"noun": "products", "name": "x", "when": "falls", "channel": "feed", "digest": "daily"}
    answer = await admin.send("/watches/new", "/watches", given)
    assert (answer.status, "falls needs field" in answer.text) == (422, True)
    assert (await admin.get("/watches/nothing")).status == 404


async def test_changes_are_listed(admin: Visitor, database: Database) -> None:
    await stock_shop(database)
    page = await admin.get("/changes?sort=-committed&kinds=product")
    assert (page.status, "Before, after and evidence" in page.text) == (200, True)
