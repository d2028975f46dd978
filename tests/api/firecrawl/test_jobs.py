"""Crawls and batches through Firecrawl's API."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from messor.scrape.keeper import JobKeeper
from messor.store.database import Database
from tests.api.firecrawl.conftest import Door, article, index, opened, rooms
from tests.crawling import PATIENCE, eventually
from tests.little_web import page


async def finished(door: Door, start: httpx.Response, key: str | None = None) -> dict[str, Any]:
    """The job's status once it has ended, with all of its documents."""
    assert start.status_code == 200, start.text
    url = start.json()["url"]
    async with asyncio.timeout(PATIENCE):
        while True:
            body = (await door.get(url, key)).json()
            if body["status"] != "scraping":
                break
            await asyncio.sleep(0.1)
    documents, following = list(body["data"]), body["next"]
    while following:
        more = (await door.get(following, key)).json()
        documents += more["data"]
        following = more["next"]
    return {**body, "data": documents}


def urls(body: dict[str, Any]) -> set[str]:
    return {one["metadata"]["url"].removeprefix("http://one.test") for one in body["data"]}


async def errors(door: Door, start: httpx.Response) -> dict[str, Any]:
    found: dict[str, Any] = (await door.get(f"{start.json()['url']}/errors")).json()
    return found


async def test_a_crawl_of_a_site(door: Door) -> None:
    start = await door.post("/v2/crawl", url="http://one.test/", limit=20)
    body = await finished(door, start)
    assert body["status"] == "completed"
    assert urls(body) == {"/", "/a", "/b", "/c?x=1", "/docs/one", "/docs/two"}
    assert body["completed"] == body["creditsUsed"] == 6
    assert body["total"] == 8
    found = await errors(door, start)
    codes = {one["url"].removeprefix("http://one.test"): one["code"] for one in found["errors"]}
    assert codes == {"/private/x": "PAGE_REFUSED", "/gone": "PAGE_MISSING"}
    assert found["robotsBlocked"] == ["http://one.test/private/x"]
    assert "/private/x" not in door.web.paths("one.test")


async def test_a_crawl_again_is_answered_from_what_is_fresh(door: Door) -> None:
    await finished(door, await door.post("/v2/crawl", url="http://one.test/", limit=20))
    asked = len(door.web.paths("one.test"))
    body = await finished(door, await door.post("/v2/crawl", url="http://one.test/", limit=20))
    assert urls(body) == {"/", "/a", "/b", "/c?x=1", "/docs/one", "/docs/two"}
    assert len(door.web.paths("one.test")) <= asked + 3, "the start, and what is not fresh"


async def test_limits_of_a_crawl(door: Door) -> None:
    one = await finished(door, await door.post("/v2/crawl", url="http://one.test/", limit=1))
    assert urls(one) == {"/"}
    depth = await finished(
        door, await door.post("/v2/crawl", url="http://one.test/", maxDiscoveryDepth=0)
    )
    assert urls(depth) == {"/"}


async def test_scope_of_a_crawl(door: Door) -> None:
    below = await finished(door, await door.post("/v2/crawl", url="http://one.test/docs/one"))
    assert urls(below) == {"/docs/one", "/docs/two"}
    whole = await finished(
        door, await door.post("/v2/crawl", url="http://one.test/docs/one", crawlEntireDomain=True,
                              excludePaths=["^/c"], includePaths=["^/[abc]"]),
    )  # fmt: skip
    assert urls(whole) == {"/docs/one", "/a", "/b"}
    assert not any(path.startswith("/c") for path in door.web.paths("one.test"))
    plain = await finished(
        door, await door.post("/v2/crawl", url="http://one.test/a", ignoreQueryParameters=True)
    )
    assert "/c?x=1" not in urls(plain)


async def test_patterns_that_cannot_be_matched_are_told(door: Door) -> None:
    for pattern in ("(", r"(a)\1", "x" * 301):
        refused = await door.post("/v2/crawl", url="http://one.test/", includePaths=[pattern])
        assert refused.status_code == 400, pattern
    assert door.web.paths("one.test") == []


async def test_options_of_a_crawl_that_are_refused(door: Door) -> None:
    options: list[dict[str, Any]] = [
        {"ignoreRobotsTxt": True}, {"allowExternalLinks": True}, {"robotsUserAgent": "Chrome"},
        {"prompt": "all"}, {"scrapeOptions": {"proxy": "stealth"}}, {"zeroDataRetention": True},
    ]  # fmt: skip
    for option in options:
        refused = await door.post("/v2/crawl", url="http://one.test/", **option)
        assert (refused.status_code, refused.json()["code"]) == (403, "OPTION_REFUSED"), option


async def test_a_crawl_without_approval_ends_with_its_refusal(door: Door) -> None:
    start = await door.post("/v2/crawl", url="https://example.com", limit=1)
    body = await finished(door, start)
    assert (body["status"], body["completed"], body["data"]) == ("completed", 0, [])
    assert "APPROVAL_NEEDED" in body["warning"]
    found = await errors(door, start)
    assert [one["code"] for one in found["errors"]] == ["APPROVAL_NEEDED"]


async def test_a_crawl_is_cancelled_once(database: Database, tmp_path: Path) -> None:
    slow = {"one.test": {**rooms(), "/robots.txt": page("no rules")}}
    async with opened(database, tmp_path, slow, worker_lease=30.0) as door:
        await door.database.fetch("UPDATE messor.key_policies SET pages_a_day = 100")
        start = await door.post("/v2/crawl", url="http://one.test/", limit=20, delay=30)
        active = (await door.get("/v2/crawl/active")).json()
        assert [one["id"] for one in active["crawls"]] == [start.json()["id"]]
        path = f"/v2/crawl/{start.json()['id']}"
        headers = {"Authorization": f"Bearer {door.key}"}
        done = await door.client.delete(path, headers=headers)
        assert done.json() == {"success": True, "status": "cancelled"}
        again = await door.client.delete(path, headers=headers)
        assert again.status_code == 409
        told = (await door.get(path)).json()
        assert told["status"] == "failed", "some clients poll for ever on any other word"
        assert "cancelled" in told["error"]
        used = await database.fetchval("SELECT sum(pages) FROM messor.key_usage")
        assert used <= 3, "what was not fetched is given back"


async def test_jobs_of_others_are_not_seen(door: Door) -> None:
    start = await door.post("/v2/crawl", url="http://one.test/", limit=1)
    hidden = await door.get(start.json()["url"], door.plain_key)
    assert hidden.status_code == 404


async def test_a_batch_is_complete(door: Door) -> None:
    await door.post("/v2/scrape", url="http://one.test/b")
    wanted = ["/a", "/b", "/old", "/private/x", "/missing", "/wall"]
    start = await door.post(
        "/v2/batch/scrape",
        urls=[f"http://one.test{path}" for path in wanted] + ["http://other.test/", "::"],
        formats=["markdown", "links"],
    )
    assert start.json()["invalidURLs"] == ["::"]
    body = await finished(door, start)
    assert body["status"] == "completed"
    assert (body["completed"], body["total"]) == (3, 7)
    assert sorted(one["metadata"]["url"] for one in body["data"]) == [
        "http://one.test/a", "http://one.test/a", "http://one.test/b",
    ]  # fmt: skip
    assert all(isinstance(one["links"], list) for one in body["data"])
    found = await errors(door, start)
    assert {one["code"] for one in found["errors"]} == {
        "PAGE_REFUSED", "PAGE_MISSING", "PAGE_BLOCKED", "APPROVAL_NEEDED",
    }  # fmt: skip
    assert door.web.paths("one.test").count("/b") == 1


async def test_documents_come_in_pages(database: Database, tmp_path: Path) -> None:
    many = {f"/p{n}": article(f"Page {n}") for n in range(130)}
    hosts = {"one.test": {"/robots.txt": rooms()["/robots.txt"], **many}}
    async with opened(database, tmp_path, hosts) as door:
        start = await door.post(
            "/v2/batch/scrape", urls=[f"http://one.test{path}" for path in many]
        )
        body = await finished(door, start)
        assert body["completed"] == 130
        assert len(body["data"]) == 130
        assert len({one["metadata"]["url"] for one in body["data"]}) == 130
        first = (await door.get(start.json()["url"])).json()
        assert len(first["data"]) == 100
        assert first["next"].startswith(f"{door.url}/v2/batch/scrape/")


async def test_a_job_outlives_its_server(database: Database, tmp_path: Path) -> None:
    """Another server's keeper takes over what nobody looks after any more."""
    async with opened(database, tmp_path, {"one.test": rooms()}, keeps=False) as door:
        start = await door.post("/v2/crawl", url="http://one.test/", limit=20)
        batch = await door.post("/v2/batch/scrape", urls=["http://one.test/old"])
        other = JobKeeper(door.web.settings(), database)

        async def is_done() -> bool:
            return await other.look() == 0

        await eventually(is_done)
        assert (await finished(door, start))["completed"] == 6
        assert (await finished(door, batch))["completed"] == 1


async def test_the_same_key_starts_a_crawl_once(door: Door) -> None:
    body = {"url": "http://one.test/", "limit": 3}
    started = set()
    for header in ("Idempotency-Key", "x-idempotency-key"):
        headers = {"Authorization": f"Bearer {door.key}", header: "once"}
        answer = await door.client.post("/v2/crawl", json=body, headers=headers)
        started.add(answer.json()["id"])
    assert len(started) == 1


async def test_map_and_search(door: Door) -> None:
    await finished(door, await door.post("/v2/crawl", url="http://one.test/", limit=20))
    links = (await door.post("/v2/map", url="http://one.test")).json()["links"]
    titles = {one["url"]: one.get("title") for one in links}
    assert titles["http://one.test/a"] == "Page A"
    assert "http://one.test/gone" not in titles
    some = (await door.post("/v2/map", url="http://one.test", search="docs", limit=1)).json()
    assert [one["url"] for one in some["links"]] == ["http://one.test/docs/one"]
    plain = (await door.post("/v1/map", url="http://one.test")).json()["links"]
    assert "http://one.test/a" in plain

    await index(door.database)
    options = {"formats": ["markdown"]}
    body = (await door.post("/v2/search", query="docs two", scrapeOptions=options)).json()
    first = body["data"]["web"][0]
    assert (first["url"], first["title"]) == ("http://one.test/docs/two", "Docs two")
    assert first["markdown"].startswith("# Docs two")
    old = (await door.post("/v1/search", query="docs two", limit=1)).json()["data"]
    assert [one["url"] for one in old] == ["http://one.test/docs/two"]
    nothing = (await door.post("/v2/search", query="zzz", sources=["news"])).json()
    assert nothing["data"] == {"web": [], "news": []}


async def test_a_map_of_an_unknown_site_reads_its_start_page(door: Door) -> None:
    links = (await door.post("/v2/map", url="http://one.test")).json()["links"]
    assert {"http://one.test/a", "http://one.test/docs/one"} <= {one["url"] for one in links}


async def test_what_clients_test_a_key_with(door: Door) -> None:
    usage = (await door.get("/v2/team/credit-usage")).json()["data"]
    assert usage["remainingCredits"] == usage["planCredits"] == 500
    await door.post("/v2/scrape", url="http://one.test/a")
    usage = (await door.get("/v2/team/credit-usage")).json()["data"]
    assert usage["remainingCredits"] == 499
    for path in ("/v2/team/token-usage", "/v2/team/queue-status", "/v2/concurrency-check",
                 "/v1/team/credit-usage"):  # fmt: skip
        assert (await door.get(path)).json()["success"] is True, path


@pytest.mark.parametrize("version", ["v1", "v2"])
async def test_values_by_a_schema(door: Door, version: str) -> None:
    schema = {"type": "object", "properties": {"poem": {"type": "string"}}}
    refused = await door.post(f"/{version}/extract", urls=["http://one.test/a"], schema=schema)
    assert (refused.status_code, refused.json()["code"]) == (403, "FORMAT_UNAVAILABLE")


async def test_a_page_that_states_nothing_of_a_schema_does_not_spoil_its_batch(door: Door) -> None:
    wanted = {"type": "json", "schema": {"type": "object", "properties": {"wingspan": {}}}}
    urls_ = ["http://one.test/a", "http://one.test/b"]
    start = await door.post("/v2/batch/scrape", urls=urls_, formats=["markdown", wanted])
    body = await finished(door, start)
    assert urls(body) == {"/a", "/b"}
    for one in body["data"]:
        assert "FORMAT_UNAVAILABLE" in one["warning"]
        assert one["markdown"].startswith("# Page")
    alone = await door.post("/v2/scrape", url="http://one.test/a", formats=[wanted])
    assert (alone.status_code, alone.json()["code"]) == (403, "FORMAT_UNAVAILABLE")


async def test_a_schema_is_filled_from_the_head_of_a_page(door: Door) -> None:
    wanted = {"type": "json", "schema": {"properties": {"title": {}, "description": {}}}}
    body = await door.post("/v2/scrape", url="http://one.test/a", formats=[wanted])
    assert body.json()["data"]["json"] == {"title": "Page A", "description": "About Page A"}
