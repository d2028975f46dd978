"""Crawls and batches over a WebSocket."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from messor.api.firecrawl import live
from messor.store.database import Database
from tests.api.firecrawl.conftest import Door, opened, rooms
from tests.crawling import PATIENCE


async def messages(
    door: Door, path: str, *, key: str | None = None, **how: Any
) -> tuple[list[dict[str, Any]], int | None]:
    """All messages until the server closes, and its code."""
    url = f"{door.url.replace('http', 'ws')}{path}"
    headers = {"Authorization": f"Bearer {key or door.key}"}
    got: list[dict[str, Any]] = []
    async with (
        asyncio.timeout(PATIENCE),
        connect(url, **({"additional_headers": headers} | how)) as socket,
    ):
        try:
            while True:
                got.append(msgspec.json.decode(await socket.recv()))
        except ConnectionClosed as closed:
            return got, closed.rcvd.code if closed.rcvd else None


async def test_a_crawl_live(door: Door) -> None:
    start = await door.post("/v2/crawl", url="http://one.test/", limit=20)
    got, code = await messages(door, f"/v2/crawl/{start.json()['id']}")
    assert (got[0]["type"], got[-1]["type"], code) == ("catchup", "done", 1000)
    assert {one["type"] for one in got[1:-1]} <= {"document"}
    documents = got[0]["data"]["data"] + [one["data"] for one in got[1:-1]]
    urls = sorted(one["metadata"]["url"].removeprefix("http://one.test") for one in documents)
    assert urls == ["/", "/a", "/b", "/c?x=1", "/docs/one", "/docs/two"], "each once"
    assert got[-1]["data"]["completed"] == 6


async def test_a_batch_that_has_ended_is_told_at_once(door: Door) -> None:
    await door.post("/v2/scrape", url="http://one.test/a")
    start = await door.post("/v2/batch/scrape", urls=["http://one.test/a"])
    path = f"/v2/batch/scrape/{start.json()['id']}"
    async with asyncio.timeout(PATIENCE):
        while (await door.get(path)).json()["status"] == "scraping":  # noqa: ASYNC110 - the API has no event
            await asyncio.sleep(0.05)
    got, code = await messages(door, path)
    assert ([one["type"] for one in got], code) == (["catchup", "done"], 1000)
    assert got[0]["data"]["data"][0]["markdown"].startswith("# Page A")


async def test_every_page_of_a_long_job_is_told(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "PAGE", 2)
    urls = [f"http://one.test{path}" for path in ("/", "/a", "/b", "/c", "/docs/one", "/docs/two")]
    for url in urls:
        await door.post("/v2/scrape", url=url)
    start = await door.post("/v2/batch/scrape", urls=urls)
    path = f"/v2/batch/scrape/{start.json()['id']}"
    async with asyncio.timeout(PATIENCE):
        while (await door.get(path)).json()["status"] == "scraping":  # noqa: ASYNC110 - the API has no event
            await asyncio.sleep(0.05)
    got, _ = await messages(door, path)
    told = got[0]["data"]["data"] + [one["data"] for one in got if one["type"] == "document"]
    assert sorted(one["metadata"]["url"] for one in told) == sorted(urls)


async def test_a_cancelled_crawl_ends_with_an_error(database: Database, tmp_path: Path) -> None:
    async with opened(database, tmp_path, {"one.test": rooms()}, keeps=False) as door:
        start = await door.post("/v2/crawl", url="http://one.test/")
        headers = {"Authorization": f"Bearer {door.key}"}

        async def cancel() -> None:
            await asyncio.sleep(0.3)
            await door.client.delete(start.json()["url"], headers=headers)

        (got, _), _ = await asyncio.gather(
            messages(door, f"/v2/crawl/{start.json()['id']}"), cancel()
        )
        assert [one["type"] for one in got] == ["catchup", "error"]


async def test_the_key_may_be_the_subprotocol(door: Door) -> None:
    """Browsers' clients have no other place for it."""
    start = await door.post("/v2/crawl", url="http://one.test/docs/two", limit=1)
    path = f"/v1/crawl/{start.json()['id']}"
    got, _ = await messages(door, path, additional_headers=None, subprotocols=[door.key])
    assert got[-1]["type"] == "done"


@pytest.mark.parametrize("key", ["fc-nonsense", ""])
async def test_a_wrong_key_hears_nothing(door: Door, key: str) -> None:
    start = await door.post("/v2/crawl", url="http://one.test/docs/two", limit=1)
    headers = {"Authorization": f"Bearer {key}"} if key else None
    got, code = await messages(door, f"/v2/crawl/{start.json()['id']}", additional_headers=headers)
    assert ([one["type"] for one in got], code) == (["error"], 1008)


async def test_the_job_of_another_key_is_unknown(door: Door) -> None:
    start = await door.post("/v2/crawl", url="http://one.test/docs/two", limit=1)
    got, code = await messages(door, f"/v2/crawl/{start.json()['id']}", key=door.plain_key)
    assert ([one["type"] for one in got], code) == (["error"], 1008)
    assert "no such job" in got[0]["error"]
