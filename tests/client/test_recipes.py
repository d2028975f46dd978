"""Recipes for other tools: Scrapy replays the archive, Dagster copies products, n8n's requests are answered."""

from __future__ import annotations

import ast
import importlib
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import httpx
import pytest

from messor_client import Client
from tests.client.conftest import Installation
from tests.client.scripts import RECIPES, needs_recipes, run
from tests.harvested import open_harvest, product_html

REPLAY = """
import json, os
import scrapy
from scrapy.crawler import CrawlerProcess

class Replay(scrapy.Spider):
    name = "replay"
    start_urls = ["http://one.test/"]

    def parse(self, response):
        yield {"url": response.url, "title": response.css("title::text").get(), "status": response.status}
        yield from response.follow_all(css="a")

process = CrawlerProcess({
    "HTTPCACHE_ENABLED": True,
    "HTTPCACHE_STORAGE": "messor_client.scrapy_cache.ArchiveCacheStorage",
    "HTTPCACHE_IGNORE_MISSING": True,
    "ROBOTSTXT_OBEY": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "WARNING",
    "MESSOR_URL": os.environ["MESSOR_URL"],
    "MESSOR_KEY": os.environ["MESSOR_KEY"],
    "FEEDS": {"items.jsonl": {"format": "jsonlines"}},
})
crawler = process.create_crawler(Replay)
process.crawl(crawler)
process.start()
stats = crawler.stats.get_stats()
print(json.dumps({name: value for name, value in stats.items() if isinstance(value, int)}))
"""


@pytest.mark.wide
@needs_recipes
def test_scrapy_replays_a_crawl_without_any_traffic(
    installation: Installation, tmp_path: Path
) -> None:
    before = len(installation.web.requests())
    stats = run(REPLAY, tmp_path, MESSOR_URL=installation.url, MESSOR_KEY=installation.key())
    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    found = {item["url"]: item["title"] for item in items}
    assert found == {
        "http://one.test/": "Home",
        "http://one.test/about": "About us",
        "http://one.test/kettle": "Copper kettle",
    }
    assert len(installation.web.requests()) == before
    assert stats["httpcache/hit"] >= 4  # the redirect, too
    assert stats["httpcache/ignore"] == 1  # /private/x was never fetched
    assert stats.get("downloader/exception_count", 1) == stats["httpcache/ignore"]
    assert "httpcache/store" not in stats or stats["httpcache/store"] == 0


TABLES = """
import json, os
from messor_client import Client
with Client(os.environ["MESSOR_KEY"], os.environ["MESSOR_URL"]) as messor:
    table = messor.list_pages(domain="one.test").to_arrow()
    frame = messor.list_pages(domain="one.test").to_dataframe()
    empty = messor.list_products().to_dataframe()
print(json.dumps({
    "types": {field.name: str(field.type) for field in table.schema},
    "rows": [table.num_rows, len(frame)],
    "titles": sorted(frame["title"].dropna()),
    "found_at": str(frame["found_at"].dtype),
    "empty": [len(empty), "price" in empty.columns],
}))
"""


@pytest.mark.wide
@needs_recipes
def test_lists_become_tables(installation: Installation, tmp_path: Path) -> None:
    found = run(TABLES, tmp_path, MESSOR_URL=installation.url, MESSOR_KEY=installation.key())
    assert found["types"]["id"] == "int64"
    assert found["types"]["found_at"] == "timestamp[us, tz=UTC]"
    assert found["rows"][0] == found["rows"][1] > 3
    assert {"About us", "Copper kettle", "Home"} <= set(found["titles"])
    assert found["found_at"] == "datetime64[us, UTC]"
    assert found["empty"] == [0, True]


DAGSTER = """
import json, os
from dagster import materialize
import dagster_products
done = materialize([dagster_products.products])
(event,) = done.get_asset_materialization_events()
counts = {name: value.value for name, value in event.materialization.metadata.items()}
schedules = [each.name for each in dagster_products.defs.schedules]
print(json.dumps({"ok": done.success, "counts": counts, "schedules": schedules}))
"""


def plant_product(installation: Installation) -> None:
    """A product as extraction stores it."""

    async def act() -> None:
        shop = await open_harvest(installation.database, "shop.example")
        await shop.see("/kettle", product_html())

    installation.run(act())


@pytest.mark.wide
@needs_recipes
def test_dagster_copies_what_changed(installation: Installation, tmp_path: Path) -> None:
    plant_product(installation)
    target = tmp_path / "products.sqlite"
    given = {
        "MESSOR_URL": installation.url,
        "MESSOR_KEY": installation.key(),
        "PRODUCTS_FILE": str(target),
    }
    first = run(DAGSTER, tmp_path, **given)
    assert (first["ok"], first["counts"]["stored"]) == (True, 1)
    assert first["schedules"] == ["copy_products_schedule"]
    with sqlite3.connect(target) as database:
        ((url, data),) = database.execute("SELECT url, data FROM products")
    assert url == "https://shop.example/kettle"
    assert "Copper kettle" in data
    assert run(DAGSTER, tmp_path, **given)["counts"] == {"stored": 0, "deleted": 0}
    with installation.client() as messor:
        messor.erase("url", "https://shop.example/kettle", "asked to")
    assert run(DAGSTER, tmp_path, **given)["counts"]["deleted"] == 1


def test_the_function_of_both_schedulers_copies_and_deletes(
    installation: Installation, messor: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(RECIPES))
    copy = importlib.import_module("changed_products").copy_changed_products
    plant_product(installation)
    target = tmp_path / "products.sqlite"
    assert copy(target, messor) == {"stored": 1, "deleted": 0}
    assert copy(target, messor) == {"stored": 0, "deleted": 0}
    messor.erase("url", "https://shop.example/kettle", "asked to")
    assert copy(target, messor) == {"stored": 0, "deleted": 1}


def test_airflow_runs_the_same_function() -> None:
    """Airflow itself is not installed: the DAG is parsed, its function is what Dagster runs."""
    tree = ast.parse((RECIPES / "airflow_products.py").read_text("utf-8"))
    calls = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert {"copy_changed_products", "copy_products", "dag"} <= calls


KNOWN_NODES: dict[str, set[float]] = {
    "n8n-nodes-base.scheduleTrigger": {1, 1.1, 1.2, 1.3},
    "n8n-nodes-base.httpRequest": {1, 2, 3, 4, 4.1, 4.2, 4.3, 4.4},
    "n8n-nodes-base.splitOut": {1},
    "n8n-nodes-base.removeDuplicates": {1, 1.1, 2},
}


def test_the_requests_of_the_n8n_workflow_are_answered(
    installation: Installation, messor: Client
) -> None:
    workflow = json.loads((RECIPES / "n8n-cheaper-products.json").read_text("utf-8"))
    nodes = {node["name"]: node for node in workflow["nodes"]}
    for node in nodes.values():
        assert node["typeVersion"] in KNOWN_NODES[node["type"]]
    reached = {
        target["node"]
        for outputs in workflow["connections"].values()
        for output in outputs["main"]
        for target in output
    }
    assert reached | {"Every 15 minutes"} == set(nodes)
    feed = ask(installation, nodes["Read the feed"], {})
    assert nodes["One item each"]["parameters"]["fieldToSplitOut"] in feed
    assert "next" in feed
    key = nodes["Only new ones"]["parameters"]["dedupeValue"]
    assert key == "={{ $json.id }}"
    entry = next(messor.follow_changes(wait=0)).items[0]
    assert hasattr(entry, "id")
    why = ask(installation, nodes["Why is it known"], {"$json.url": "http://one.test/about"})
    assert why["verdict"] in ("allowed", "deferred")


def ask(installation: Installation, node: dict[str, Any], values: dict[str, str]) -> dict[str, Any]:
    """What a request node gets, with its expressions replaced."""
    known = {"$env.MESSOR_URL": installation.url, **values}

    def fill(text: str) -> str:
        return re.sub(r"\{\{ (.+?) \}\}", lambda found: known[found[1]], text.removeprefix("="))

    given = node["parameters"]
    assert given["genericAuthType"] == "httpBearerAuth"
    answer = httpx.request(
        given["method"],
        fill(given["url"]),
        params={one["name"]: fill(one["value"]) for one in given["queryParameters"]["parameters"]},
        headers={"Authorization": f"Bearer {installation.key()}"},
    )
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found
