"""firecrawl-mcp, the npm package, unmodified: skipped without `make clients`."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.api.firecrawl.conftest import Door, index
from tests.api.firecrawl.test_official import PYTHON

sdk = pytest.importorskip("mcp", reason="the package mcp is not here: pip install 'messor[mcp]'")
NODE = PYTHON.with_name("node")
SERVER = PYTHON.parents[1] / "node_modules" / "firecrawl-mcp" / "dist" / "index.js"
PATIENCE = 90.0

pytestmark = pytest.mark.skipif(
    not (NODE.exists() and SERVER.exists()), reason="firecrawl-mcp is not here: make clients"
)


@asynccontextmanager
async def agent(door: Door) -> AsyncIterator[Any]:
    from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: PLC0415 - an extra

    given = {"FIRECRAWL_API_URL": door.url, "FIRECRAWL_API_KEY": door.key}
    parameters = StdioServerParameters(command=str(NODE), args=[str(SERVER)], env=given)
    async with (
        asyncio.timeout(PATIENCE),
        sdk.Client(stdio_client(parameters, errlog=sys.stderr)) as client,
    ):
        yield client


async def said(client: Any, name: str, **given: Any) -> tuple[bool, str]:
    result = await client.call_tool(f"firecrawl_{name}", given)
    return bool(result.is_error), "".join(part.text for part in result.content)


async def told(client: Any, name: str, **given: Any) -> dict[str, Any]:
    is_error, text = await said(client, name, **given)
    assert not is_error, text
    found: dict[str, Any] = json.loads(text)
    return found


async def test_the_tools_of_firecrawl_mcp(door: Door) -> None:
    for path in ("/b", "/docs/two"):
        await door.post("/v2/scrape", url=f"http://one.test{path}")
    await index(door.database)
    async with agent(door) as client:
        page = await told(client, "scrape", url="http://one.test/a", formats=["markdown"])
        assert page["markdown"].startswith("# Page A")
        assert page["metadata"]["messor"]["evidence"]
        mapped = await told(client, "map", url="http://one.test/")
        assert "http://one.test/a" in json.dumps(mapped)
        found = await told(client, "search", query="docs two", limit=3)
        assert "http://one.test/docs/two" in json.dumps(found)
        is_error, started = await said(client, "crawl", url="http://one.test/docs/one", limit=5)
        assert not is_error, started
        for path, code in (
            ("http://one.test/private/x", "may not be fetched"),
            ("http://one.test/wall", "was blocked by the site"),
            ("http://unknown.test/", "awaits approval"),
        ):
            is_error, text = await said(client, "scrape", url=path, formats=["markdown"])
            assert is_error, path
            assert code in text
