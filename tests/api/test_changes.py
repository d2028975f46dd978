"""The change feed over the API: batches with a cursor, long poll, and a stream."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import msgspec

from messor.access.roles import Role
from messor.store.database import Database
from tests.api.conftest import AsRole, problem
from tests.api.serving import Served
from tests.harvested import open_harvest, product_html

C = "/api/v1/changes"


async def test_a_stored_cursor_misses_and_repeats_nothing(
    as_role: AsRole, database: Database
) -> None:
    viewer = await as_role(Role.VIEWER)
    shop = await open_harvest(database)
    params: dict[str, Any] = {"kinds": "product", "limit": 1}
    seen = []
    for price in ("3.00", "2.00", "1.00"):
        await shop.see(f"/{price}", product_html(price=price))
        while True:
            body = (await viewer.get(C, params=params)).json()
            seen += [item["after"]["price"] for item in body["items"]]
            params["cursor"] = body["cursor"]
            if body["next"] is None:
                break
    assert seen == [3.0, 2.0, 1.0]


async def test_a_batch_may_hold_thousands(admin: httpx.AsyncClient) -> None:
    assert (await admin.get(C, params={"limit": 5000})).status_code == 200
    problem(await admin.get(C, params={"limit": 5001}), 422, "invalid")
    problem(await admin.get(C, params={"wait": 61}), 422, "invalid")
    problem(await admin.get(C, params={"cursor": "bm9uc2Vuc2U"}), 422, "usage")
    problem(await admin.get(C, params={"kinds": "no kind!"}), 422, "invalid")


async def test_newest_first_for_people(admin: httpx.AsyncClient, database: Database) -> None:
    shop = await open_harvest(database)
    await shop.see("/a", product_html())
    body = (await admin.get(C, params={"sort": "-committed"})).json()
    assert body["items"][0]["kind"] == "record"
    assert body["cursor"] is None


async def test_an_expired_cursor_is_gone(admin: httpx.AsyncClient, database: Database) -> None:
    shop = await open_harvest(database)
    await shop.see("/a", product_html())
    cursor = (await admin.get(C)).json()["cursor"]
    await database.fetch("DELETE FROM messor.changes")
    problem(await admin.get(C, params={"cursor": cursor}), 410, "cursor_expired")


async def test_a_long_poll_ends_with_the_first_entry(
    admin: httpx.AsyncClient, database: Database
) -> None:
    shop = await open_harvest(database)
    cursor = (await admin.get(C)).json()["cursor"]
    asked = asyncio.create_task(admin.get(C, params={"cursor": cursor, "wait": 60}, timeout=90))
    await asyncio.sleep(0)
    await shop.see("/a", product_html())
    body = (await asyncio.wait_for(asked, 60)).json()
    assert body["items"]
    quiet = (await admin.get(C, params={"cursor": body["cursor"], "wait": 1})).json()
    assert quiet["next"] is None


async def test_a_stream_resumes_after_its_last_entry(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    shop = await open_harvest(database)
    with Served(dsn, tmp_path) as served:
        key = await asyncio.to_thread(served.key, Role.VIEWER)
        headers = {"Authorization": f"Bearer {key}", "Last-Event-ID": "0-0"}
        seen = []
        for price in ("3.00", "2.00"):
            await shop.see(f"/{price}", product_html(price=price))
            async with (
                asyncio.timeout(60),
                httpx.AsyncClient(base_url=served.url, headers=headers, timeout=60) as client,
                client.stream("GET", f"{C}/stream?kinds=product") as answer,
            ):
                async for line in answer.aiter_lines():
                    if line.startswith("data: "):
                        told = msgspec.json.decode(line.removeprefix("data: "))
                        seen.append(told["after"]["price"])
                        headers["Last-Event-ID"] = told["id"]
                        break
        assert seen == [3.0, 2.0]


async def test_chunks_of_changed_pages(as_role: AsRole, database: Database) -> None:
    viewer = await as_role(Role.VIEWER)
    shop = await open_harvest(database)
    page_id = await shop.see("/a", product_html())
    body = (await viewer.get(f"{C}/chunks", params={"domain": "shop.example"})).json()
    (page,) = body["items"]
    assert (page["page_id"], page["is_gone"]) == (page_id, False)
    assert page["chunks"][0]["heading_path"] == ["Copper kettle"]
    params = {"domain": "shop.example", "cursor": body["cursor"]}
    assert (await viewer.get(f"{C}/chunks", params=params)).json()["items"] == []
    problem(await viewer.get(f"{C}/chunks", params={"limit": 201}), 422, "invalid")
