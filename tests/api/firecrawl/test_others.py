"""Requests of other tools, written from descriptions of what they send."""

from __future__ import annotations

from typing import Any

import httpx

from tests.api.firecrawl.conftest import Door
from tests.api.firecrawl.test_jobs import finished


async def test_n8n(door: Door) -> None:
    """Its base URL ends in the version; credentials are tested by the credits."""
    headers = {"Authorization": f"Bearer {door.key}"}
    async with httpx.AsyncClient(base_url=f"{door.url}/v2", headers=headers, timeout=30) as node:
        assert (await node.get("/team/credit-usage")).status_code == 200
        body: dict[str, Any] = {
            "url": "http://one.test/a", "formats": ["markdown", {"type": "json", "schema": {}}][:1],
            "onlyMainContent": True, "timeout": 30000, "waitFor": 0, "mobile": False,
            "skipTlsVerification": False, "removeBase64Images": True, "blockAds": True,
            "proxy": "basic", "storeInCache": True, "headers": {}, "includeTags": [],
            "excludeTags": [], "actions": [], "parsers": ["pdf"],
        }  # fmt: skip
        answer = (await node.post("/scrape", json=body)).json()
        assert answer["data"]["markdown"].startswith("# Page A")


async def test_dify(door: Door) -> None:
    """It validates by a crawl of a domain nobody approved, follows `next`, and wants metadata."""
    check = await door.post("/v2/crawl", url="https://example.com", excludePaths=[], includePaths=[],
                            limit=1, scrapeOptions={"onlyMainContent": True})  # fmt: skip
    assert check.status_code == 200
    assert (await finished(door, check))["status"] == "completed"
    headers = {"Authorization": f"Bearer {door.key}", "Idempotency-Key": "dify-1"}
    body = {"url": "http://one.test/", "limit": 10, "maxDepth": 2, "includePaths": [],
            "scrapeOptions": {"onlyMainContent": True}, "crawlerOptions": {"generateImgAltText": True}}  # fmt: skip
    start = await door.client.post("/v2/crawl", json=body, headers=headers)
    found = await finished(door, start)
    assert all(one["markdown"] and one["metadata"]["sourceURL"] for one in found["data"])
    page = await door.post("/v1/scrape", url="http://one.test/a", formats=["markdown"])
    assert page.json()["data"]["metadata"]["title"] == "Page A"
    links = (await door.post("/v1/map", url="http://one.test")).json()["links"]
    assert all(isinstance(link, str) for link in links)


async def test_open_webui(door: Door) -> None:
    body: dict[str, Any] = {"url": "http://one.test/a", "formats": ["markdown"], "skipTlsVerification": True,
            "timeout": 20000}  # fmt: skip
    data = (await door.post("/v2/scrape", **body)).json()["data"]
    assert data["metadata"].keys() >= {"url", "sourceURL", "title", "description"}
    found = await door.post("/v2/search", query="page", limit=5, timeout=3000)
    assert found.json()["data"]["web"] == []


async def test_librechat(door: Door) -> None:
    """It sends options of version 1 to version 2, and waits for 7.5 seconds."""
    body: dict[str, Any] = {"url": "http://one.test/a", "formats": ["markdown", "rawHtml"], "parsePDF": True,
            "onlyMainContent": True, "removeBase64Images": True, "timeout": 7500, "maxAge": 0}  # fmt: skip
    data = (await door.post("/v2/scrape", **body)).json()["data"]
    assert "<h1>Page A</h1>" in data["rawHtml"]


async def test_flowise(door: Door) -> None:
    options: dict[str, Any] = {"formats": ["markdown"], "onlyMainContent": True}
    data = (await door.post("/v1/scrape", url="http://one.test/a", **options)).json()["data"]
    assert data["markdown"].startswith("# Page A")
    start = await door.post("/v1/crawl", url="http://one.test/docs/one", limit=5, maxDepth=2,
                            allowBackwardLinks=False, scrapeOptions=options)  # fmt: skip
    assert "/v1/crawl/" in start.json()["url"]
    assert (await finished(door, start))["completed"] == 2
    found = (await door.post("/v1/search", query="page", limit=5)).json()
    assert found["data"] == []
