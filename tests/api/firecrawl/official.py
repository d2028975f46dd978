"""Calls of the official clients, run by the Python of their own environment (make clients).

Prints one JSON object: what each call returned, or the name and code of what it raised.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from firecrawl import AsyncFirecrawl, Firecrawl  # type: ignore[import-not-found]
from firecrawl.v2.watcher import Watcher  # type: ignore[import-not-found]
from firecrawl.v2.watcher_async import AsyncWatcher  # type: ignore[import-not-found]
from langchain_firecrawl import FirecrawlLoader  # type: ignore[import-not-found]
from llama_index.readers.web import FireCrawlWebReader  # type: ignore[import-not-found]

URL, KEY, SITE = sys.argv[1:4]


def tried(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - what it raises is the answer
        return {
            "raised": type(error).__name__,
            "code": getattr(error, "code", None),
            "text": str(error),
        }


def told(document: Any) -> dict[str, Any]:
    metadata = document.metadata
    return {
        "markdown": (document.markdown or "")[:40],
        "url": metadata.url,
        "status": metadata.status_code,
        "cache": metadata.cache_state,
        "messor": metadata.model_dump().get("messor"),
        "links": document.links,
    }


def scraped(client: Any, path: str) -> dict[str, Any]:
    return told(client.scrape(f"{SITE}{path}"))


def synchronous(client: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    found["scrape"] = told(client.scrape(f"{SITE}/a", formats=["markdown", "links"]))
    found["again"] = told(
        client.scrape(f"{SITE}/a", proxy="auto", block_ads=True, max_age=3_600_000)
    )
    for name, path in (("denied", "/private/x"), ("blocked", "/wall"), ("missing", "/missing")):
        found[name] = tried(partial(scraped, client, path))
    found["unapproved"] = tried(lambda: told(client.scrape("http://unknown.test/")))
    found["stealth"] = tried(lambda: told(client.scrape(f"{SITE}/a", proxy="stealth")))
    job = client.crawl(f"{SITE}/", limit=20, poll_interval=1, timeout=60)
    found["crawl"] = [
        job.status,
        job.completed,
        job.total,
        sorted(told(one)["url"] for one in job.data),
    ]
    found["crawl_errors"] = client.get_crawl_errors(job.id).model_dump(mode="json")
    found["active"] = client.get_active_crawls().model_dump(mode="json")
    batch = client.batch_scrape([f"{SITE}/a", f"{SITE}/b", "http://:x/"], formats=["markdown"],
                                ignore_invalid_urls=True, poll_interval=1, wait_timeout=60)  # fmt: skip
    found["batch"] = [batch.status, batch.completed, batch.total, len(batch.data)]
    found["map"] = sorted(link.url for link in client.map(f"{SITE}/").links)
    found["search"] = len(client.search("page", limit=3).web or [])
    found["credits"] = client.get_credit_usage().remaining_credits
    found["concurrency"] = client.get_concurrency().max_concurrency
    found["queue"] = client.get_queue_status().max_concurrency
    started = client.start_crawl(f"{SITE}/docs/one", limit=5)
    watched: list[str] = []
    watcher = Watcher(client._v2_client, started.id, kind="crawl", poll_interval=1, timeout=60)
    watcher.add_event_listener("done", lambda detail: watched.append(detail["status"]))
    watcher.add_event_listener("document", lambda _: watched.append("document"))
    watcher.start()
    watcher._thread.join(60)
    found["watched"] = watched
    return found


def newer(client: Any) -> dict[str, Any]:
    """Files and monitors."""
    page = client.parse(b"<h1>A file</h1><p>Its text.</p>", filename="page.html")
    known = [one.format for one in client.get_parse_formats() if one.available]
    monitor = client.create_monitor(
        "Watched", {"text": "hourly"}, [{"type": "scrape", "urls": [f"{SITE}/a", f"{SITE}/b"]}]
    )
    check = client.run_monitor(monitor.id)
    for _ in range(120):
        detail = client.get_monitor_check(monitor.id, check.id)
        if detail.status != "running":
            break
        time.sleep(0.25)
    paused = client.update_monitor(monitor.id, status="paused")
    return {
        "parsed": [page.markdown, page.metadata.source_url, sorted(known)],
        "check": [
            detail.status,
            detail.summary.total_pages,
            sorted(one.url for one in detail.pages),
        ],
        "checks": len(client.list_monitor_checks(monitor.id)),
        "paused": [paused.status, len(client.list_monitors())],
        "deleted": client.delete_monitor(monitor.id),
    }


async def watched() -> list[str]:
    """A batch over a WebSocket, with the asynchronous client."""
    client = AsyncFirecrawl(api_key=KEY, api_url=URL)
    started = await client.start_batch_scrape([f"{SITE}/a", f"{SITE}/b"])
    watcher = AsyncWatcher(client, started.id, kind="batch", poll_interval=1, timeout=60)
    return [job.status async for job in watcher]


async def asynchronous() -> dict[str, Any]:
    client = AsyncFirecrawl(api_key=KEY, api_url=URL)
    found: dict[str, Any] = {"scrape": told(await client.scrape(f"{SITE}/b"))}
    job = await client.crawl(url=f"{SITE}/docs/one", limit=5, poll_interval=1)
    found["crawl"] = [job.status, sorted(told(one)["url"] for one in job.data)]
    return found


def langchain() -> list[str]:
    loader = FirecrawlLoader(f"{SITE}/a", api_key=KEY, api_url=URL, mode="scrape")
    return [document.page_content[:20] for document in loader.load()]


def llama_index() -> list[str]:
    reader = FireCrawlWebReader(api_key=KEY, api_url=URL, mode="scrape")
    return [document.text[:20] for document in reader.load_data(url=f"{SITE}/a")]


def main() -> None:
    client = Firecrawl(api_key=KEY, api_url=URL)
    answers = {
        "sync": synchronous(client),
        "async": asyncio.run(asynchronous()),
        "newer": newer(client),
        "watched": asyncio.run(watched()),
        "langchain": tried(langchain),
        "llama_index": tried(llama_index),
    }
    json.dump(answers, sys.stdout, default=str)


if __name__ == "__main__":
    main()
