"""The examples of docs/examples follow changes, removals and erasures: skipped without `make clients`."""

from __future__ import annotations

import asyncio
import json
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from messor.access.roles import Role
from messor.governance import erasure
from messor.store.database import Database
from tests.api.serving import Served
from tests.console import seeding
from tests.harvested import open_harvest, product_html

PYTHON = Path(__file__).parents[2] / ".venv-clients" / "bin" / "python"
SCRIPT = Path(__file__).with_name("examples_at_work.py")
HAS_CLIENTS = any(PYTHON.parents[1].glob("lib/*/site-packages/dlt"))
QUIET = {"RUNTIME__DLTHUB_TELEMETRY": "false", "LANGCHAIN_TRACING_V2": "false"}
PATIENCE = 240.0
COPPER, STEEL, CARE = "All of copper.", "All of steel.", "With vinegar."
FIRST = "# Kettles\n\nAll of copper.\n\n## Care\n\nWith vinegar."
SECOND = "# Kettles\n\nAll of steel.\n\n## Care\n\nWith vinegar."

pytestmark = [
    pytest.mark.wide,
    pytest.mark.skipif(not HAS_CLIENTS, reason="the clients are not here: make clients"),
]


@pytest.fixture
async def copies(dsn: str, tmp_path: Path) -> AsyncIterator[Process]:
    with Served(dsn, tmp_path) as served:
        key = await asyncio.to_thread(served.key, Role.VIEWER)
        process = await asyncio.create_subprocess_exec(
            str(PYTHON), str(SCRIPT), served.url, key, str(tmp_path),
            stdin=PIPE, stdout=PIPE, limit=1 << 20, env={**os.environ, **QUIET},
        )  # fmt: skip
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


def sections(found: dict[str, Any]) -> list[str]:
    """The sections of the two guides; both copies have the same texts."""
    assert found["langchain"] == found["llama_index"]
    return [text for text in found["langchain"] if text in {COPPER, STEEL, CARE}]


def products(found: dict[str, Any]) -> list[list[Any]]:
    return [row for row in found["tables"]["records"] if row[2].get("product_name")]


async def turn(process: Process) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"\n")
    line = await asyncio.wait_for(process.stdout.readline(), PATIENCE)
    assert line, "it ended: see its errors"
    found: dict[str, Any] = json.loads(line)
    return found


async def test_copies_follow_changes_and_deletions(database: Database, copies: Process) -> None:
    shop = await open_harvest(database)
    await shop.see("/kettle", product_html(price="49.90"), timedelta(days=2))
    await shop.see("/cup", product_html("Cup", "9.90", sku="C-1"))
    texts = [
        await seeding.add_page(database, shop.domain, f"https://shop.example/{name}")
        for name in ("guide", "care")
    ]
    for page_id in texts:
        await seeding.add_snapshot(database, page_id, "Kettles", FIRST)
    first = await turn(copies)
    assert sections(first) == [COPPER, COPPER, CARE, CARE]
    assert {row[2]["product_name"]: row[2]["price"] for row in products(first)} == {
        "Copper kettle": 49.9, "Cup": 9.9,
    }  # fmt: skip
    assert len(first["tables"]["pages"]) == 4

    await seeding.add_snapshot(database, texts[0], "Kettles", SECOND)
    await shop.see("/kettle", product_html(price="39.90"), timedelta(days=1))
    second = await turn(copies)
    kettle = next(row for row in products(second) if row[2]["price"] == 39.9)
    assert kettle[1:2] == ["changed"]
    assert kettle[2]["product_name"] == "Copper kettle", "a row keeps what did not change"
    assert sections(second) == [COPPER, STEEL, CARE, CARE]
    before, after = first["embedded"], second["embedded"]
    changed = [new - old for new, old in zip(after, before, strict=True)]
    assert max(changed) <= 2, "only what changed is embedded: the section, and the kettle's page"

    await shop.see("/cup", None)
    for url in ("https://shop.example/kettle", "https://shop.example/care"):
        async with database.transaction() as connection:
            await erasure.erase_url(connection, url, actor="ann", reason="asked")
    third = await turn(copies)
    assert [row[1] for row in products(third)] == ["removed"], "the kettle is erased"
    assert len(third["tables"]["pages"]) == 2
    assert sections(third) == [STEEL, CARE]
    assert third == {**(await turn(copies)), "embedded": third["embedded"]}, "nothing new"
