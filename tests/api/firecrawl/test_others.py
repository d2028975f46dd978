"""Requests of other tools, as the sources of their newest releases send them, and how they read the answers."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from messor.governance import erasure
from messor.registry import domains
from tests.api.firecrawl.conftest import Door
from tests.api.firecrawl.test_jobs import finished


async def test_n8n(door: Door) -> None:
    """Its base URL ends in the version, every request has a body, and credits test the key."""
    headers = {"Authorization": f"Bearer {door.key}", "Accept": "application/json"}
    own = {"integration": "n8n"}
    async with httpx.AsyncClient(base_url=f"{door.url}/v2", headers=headers, timeout=30) as node:
        for path in ("credit-usage", "token-usage", "queue-status",
                     "credit-usage/historical", "token-usage/historical"):  # fmt: skip
            answer = await node.request("GET", f"/team/{path}", json=own)
            assert (answer.status_code, answer.json()["success"]) == (200, True), path
        options: dict[str, Any] = {
            "formats": [{"type": "markdown"}], "onlyMainContent": True, "headers": {}, "waitFor": 0,
            "mobile": False, "skipTlsVerification": False, "timeout": 30000,
            "removeBase64Images": True, "blockAds": True, "proxy": "auto", "storeInCache": True,
        }  # fmt: skip
        body = {**own, "url": "http://one.test/a", **options, "parsers": [{"type": "pdf"}],
                "includeTags": [], "excludeTags": [], "actions": []}  # fmt: skip
        answer = await node.post("/scrape", json=body)
        assert answer.json()["data"]["markdown"].startswith("# Page A")
        crawl = {**own, "url": "http://one.test/docs/one", "limit": 500, "sitemap": "include",
                 "crawlEntireDomain": False, "allowExternalLinks": False, "allowSubdomains": False,
                 "ignoreQueryParameters": False, "scrapeOptions": options}  # fmt: skip
        start = await node.post("/crawl", json=crawl)
        assert (await finished(door, start))["completed"] == 2
        listed = {**own, "urls": ["http://one.test/a", "http://one.test/b"], **options,
                  "maxConcurrency": 100, "ignoreInvalidURLs": True, "zeroDataRetention": False}  # fmt: skip
        start = await node.post("/batch/scrape", json=listed)
        assert (await finished(door, start))["completed"] == 2
        mapped = {**own, "url": "http://one.test/", "sitemap": "include", "limit": 5000,
                  "includeSubdomains": False, "timeout": 10000}  # fmt: skip
        assert (await node.post("/map", json=mapped)).json()["links"]
        search = {**own, "query": "page", "limit": 5, "sources": [{"type": "web"}], "tbs": ""}
        assert (await node.post("/search", json=search)).json()["data"] == {"web": []}
        assert (await node.request("GET", "/crawl/active", json=own)).json()["crawls"] == []


async def test_dify(door: Door) -> None:
    """It validates by a crawl of a domain nobody approved, follows `next`, and wants metadata."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {door.key}"}
    probe: dict[str, Any] = {"url": "https://example.com", "includePaths": [], "excludePaths": [],
                             "limit": 1, "scrapeOptions": {"onlyMainContent": True}}  # fmt: skip
    check = await door.client.post("/v1/crawl", json=probe, headers=headers)
    assert check.status_code == 200
    assert (await finished(door, check))["status"] == "completed"
    body = {"url": "http://one.test/", "limit": 10, "maxDiscoveryDepth": 2,
            "scrapeOptions": {"onlyMainContent": True}}  # fmt: skip
    start = await door.client.post(
        "/v2/crawl", json=body, headers={**headers, "Idempotency-Key": "dify-1"}
    )
    again = await door.client.post(
        "/v2/crawl", json=body, headers={**headers, "Idempotency-Key": "dify-1"}
    )
    assert start.json()["id"] == again.json()["id"], "started once"
    found = await finished(door, start)
    assert found["total"] >= found["completed"] > 0
    for one in found["data"]:
        assert one["markdown"]
        assert one["metadata"]["sourceURL"]
    page = await door.post("/v1/scrape", url="http://one.test/a")
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
    """Numbers come as strings; an extraction is asked for again by its id."""
    own: dict[str, Any] = {"integration": "flowise"}
    options: dict[str, Any] = {"formats": ["markdown"], "onlyMainContent": True}
    body = await door.post("/v1/scrape", url="http://one.test/a", **options, **own)
    assert body.json()["data"]["markdown"].startswith("# Page A")
    start = await door.post("/v1/crawl", url="http://one.test/docs/one", limit="10000",
                            scrapeOptions={**options, "includeTags": ["main"]}, **own)  # fmt: skip
    assert "/v1/crawl/" in start.json()["url"]
    done = await finished(door, start)
    assert (done["status"], done["completed"]) == ("completed", 2)
    found = (await door.post("/v1/search", query="page", limit="5", lang="en", country="us",
                             timeout=60000, **own)).json()  # fmt: skip
    assert (found["success"], found["data"]) == (True, [])
    asked = await door.post(
        "/v1/extract", urls=["http://one.test/a"], prompt="The title",
        schema={"type": "object", "properties": {"title": {"type": "string"}}}, **own,
    )  # fmt: skip
    assert asked.json()["success"] is True
    kept = (await door.get(f"/v1/extract/{asked.json()['id']}")).json()
    assert (kept["status"], kept["data"]) == ("completed", {"title": "Page A"})
    assert kept["expiresAt"]


# The single-page request of each tool.
SCRAPES: dict[str, tuple[str, dict[str, Any]]] = {
    "n8n": ("/v2/scrape", {"integration": "n8n", "formats": [{"type": "markdown"}]}),
    "dify": ("/v1/scrape", {}),
    "open-webui": ("/v2/scrape", {"formats": ["markdown"], "skipTlsVerification": True}),
    "librechat": ("/v2/scrape", {"formats": ["markdown", "rawHtml"], "timeout": 7500}),
    "flowise": ("/v1/scrape", {"formats": ["markdown"], "onlyMainContent": True,
                               "integration": "flowise"}),
}  # fmt: skip
REFUSALS = {
    "http://one.test/private/x": (403, "PAGE_REFUSED"),
    "http://one.test/wall": (403, "PAGE_BLOCKED"),
    "http://one.test/gone-for-good": (404, "PAGE_MISSING"),
    "http://unknown.test/": (403, "APPROVAL_NEEDED"),
    "http://one.test/b": (403, "PAGE_ERASED"),
}


@pytest.mark.parametrize("tool", SCRAPES)
async def test_each_tool_reads_why_not(door: Door, tool: str) -> None:
    """Refused, blocked, missing, unapproved, erased and put off: `success: false`, with a sentence."""
    path, body = SCRAPES[tool]
    await door.post("/v2/scrape", url="http://one.test/b")
    async with door.database.transaction() as connection:
        await erasure.erase_url(connection, "http://one.test/b", reason="asked", actor="tester")
    for url, (status, code) in REFUSALS.items():
        answer = await door.post(path, url=url, **body)
        told = answer.json()
        assert (answer.status_code, told["success"], told["code"]) == (status, False, code), url
        assert isinstance(told["error"], str)
        assert told["error"]
    async with door.database.transaction() as connection:
        domain = await domains.get(connection, "one.test")
        await domains.configure(connection, domain, actor="tester", delay=30.0)
    await door.post("/v2/scrape", url="http://one.test/plain", maxAge=0, timeout=100)
    put_off = await door.post(
        path, url="http://one.test/a", **{**body, "maxAge": 0, "timeout": 100}
    )
    assert (put_off.status_code, put_off.json()["code"]) == (408, "SCRAPE_TIMEOUT")
    assert put_off.json()["details"]["state"] == "processing_continues"
