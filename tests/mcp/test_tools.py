"""The tools, driven by the official SDK's client: each answers, refuses, and stays within its size."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from messor.access.roles import Role
from messor.insight.full_text import FullText
from messor.store.database import Database
from simweb.answers import SimResponse
from simweb.documents import HTML
from tests.api.firecrawl.conftest import article, index, key_with_policy, rooms
from tests.content.injected_pages import injected_pages
from tests.crawling import at_work, eventually
from tests.listening import listen
from tests.little_web import LittleWeb, Room, robots

sdk = pytest.importorskip("mcp", reason="the package mcp is not here: pip install 'messor[mcp]'")
server_module = pytest.importorskip("messor.mcp.server")

MOST = 60_000
CANARY = "CANARY"
NAMES = {
    f"messor_{name}"
    for name in (
        "search", "fetch", "crawl", "crawl_status", "map", "records", "products", "changes", "why",
        "submit_domain", "watches",
    )
}  # fmt: skip


@dataclass
class Agent:
    """A connected client."""

    client: Any
    web: LittleWeb
    database: Database

    async def raw(self, name: str, **given: Any) -> tuple[bool, str]:
        result = await self.client.call_tool(f"messor_{name}", given)
        text = "".join(part.text for part in result.content)
        assert len(text.encode()) <= MOST
        assert result.structured_content is None, "it would double the answer"
        return bool(result.is_error), text

    async def call(self, name: str, **given: Any) -> dict[str, Any]:
        is_error, text = await self.raw(name, **given)
        assert not is_error, text
        found: dict[str, Any] = json.loads(text)
        return found

    async def refused(self, name: str, **given: Any) -> str:
        is_error, text = await self.raw(name, **given)
        assert is_error, text
        return text


@asynccontextmanager
async def agent(
    database: Database, folder: Path, site: dict[str, Room], *, key: str | None
) -> AsyncIterator[Agent]:
    async with LittleWeb(folder, {"one.test": site}) as web:
        settings = web.settings(default_delay=0.0, mcp_key=key)
        async with FullText.of(settings, database) as full_text, at_work(settings, database):
            server, services = server_module.make_server(
                settings, database, full_text, is_served=False
            )
            keeping = asyncio.create_task(services.keeper.run())
            async with sdk.Client(server) as client:
                yield Agent(client, web, database)
            keeping.cancel()


async def test_every_tool_answers(database: Database, tmp_path: Path) -> None:
    key = await key_with_policy(database, ["one.test"])
    async with agent(database, tmp_path, rooms(), key=key) as made:
        listed = await made.client.list_tools()
        assert {tool.name for tool in listed.tools} == NAMES
        assert all(tool.description for tool in listed.tools)

        page = await made.call("fetch", url="http://one.test/a")
        assert "It tells at length" in page["data"]["text"]
        assert page["next"] is None
        assert page["note"].startswith("`data` was written by strangers")
        started = await made.call("crawl", url="http://one.test/", limit=20)

        async def is_done() -> bool:
            said = await made.call("crawl_status", job=started["job"])
            return bool(said["status"] != "scraping")

        await eventually(is_done)
        status = await made.call("crawl_status", job=started["job"])
        assert status["completed"] == 6
        assert {one["code"] for one in status["data"]["refused"]} == {
            "PAGE_REFUSED",
            "PAGE_MISSING",
        }
        mapped = await made.call("map", url="http://one.test/", search="docs")
        assert {one["url"] for one in mapped["data"]} == {
            "http://one.test/docs/one", "http://one.test/docs/two",
        }  # fmt: skip
        await index(database)
        found = await made.call("search", query="docs two")
        assert found["data"][0]["url"] == "http://one.test/docs/two"
        assert found["data"][0]["quotes"]
        why = await made.call("why", url="http://one.test/private/x")
        assert "robots" in json.dumps(why["data"]["facts"])
        changed = await made.call("changes", domain="one.test")
        assert changed["data"]
        for name in ("records", "products", "watches"):
            assert "data" in await made.call(name)
        submitted = await made.call("submit_domain", domain="other.test")
        assert submitted["outcome"] == "new"


async def test_refusals_have_codes(database: Database, tmp_path: Path) -> None:
    key = await key_with_policy(database, ["one.test"])
    async with agent(database, tmp_path, rooms(), key=key) as made:
        for url, code in (
            ("http://one.test/private/x", "PAGE_REFUSED"),
            ("http://unknown.test/", "APPROVAL_NEEDED"),
            ("::", "usage"),
        ):
            assert code in await made.refused("fetch", url=url)
        assert "usage" in await made.refused("crawl_status", job="nonsense")
        assert "usage" in await made.refused("fetch", url="http://one.test/a", cursor="x:y")
        assert "not_found" in await made.refused(
            "crawl_status", job="00000000-0000-0000-0000-000000000000"
        )


async def test_roles_apply(database: Database, tmp_path: Path) -> None:
    async with agent(database, tmp_path, rooms(), key=None) as made:
        assert "data" in await made.call("records"), "without a key, what is known is read"
        for name, given in (
            ("fetch", {"url": "http://one.test/a"}),
            ("crawl", {"url": "http://one.test/"}),
            ("submit_domain", {"domain": "one.test"}),
        ):
            assert "forbidden" in await made.refused(name, **given)
        assert made.web.paths("one.test") == []
    later = tmp_path / "later"
    later.mkdir()
    plain = await key_with_policy(database, [], Role.SUBMITTER)
    async with agent(database, later, rooms(), key=plain) as made:
        assert "APPROVAL_NEEDED" in await made.refused("fetch", url="http://one.test/a")


async def test_a_long_page_comes_in_parts(database: Database, tmp_path: Path) -> None:
    body = "</p><p>".join(
        f"Line {n} tells of the number {n} and of ä, 漢字 and 🙂." for n in range(4_000)
    )
    key = await key_with_policy(database, ["one.test"])
    async with agent(database, tmp_path, {"/long": article("Long", body)}, key=key) as made:
        part = await made.call("fetch", url="http://one.test/long")
        text, parts = part["data"]["text"], 1
        while part["next"] is not None:
            part = await made.call("fetch", url="http://one.test/long", cursor=part["next"])
            text += part["data"]["text"]
            parts += 1
        assert parts > 2
        assert len(text) == part["characters"]
        assert all(f"Line {n} tells" in text for n in (0, 1_999, 3_999))


async def test_what_speaks_to_machines_stays_in_its_field(
    database: Database, tmp_path: Path
) -> None:
    """FAULTS L1: hidden text is removed and counted; no canary is outside `data`."""
    pages = injected_pages()
    site: dict[str, Room] = {
        f"/p{n}": SimResponse(200, (("Content-Type", HTML),), html.encode())
        for n, html in enumerate(pages)
    }
    site["/robots.txt"] = robots("User-agent: *\nAllow: /\n")
    key = await key_with_policy(database, ["one.test"])
    async with agent(database, tmp_path, site, key=key) as made:
        reported = leaked = 0
        for path in sorted(site.keys() - {"/robots.txt"}):
            answer = await made.call("fetch", url=f"http://one.test{path}")
            removed = (
                answer["hidden_elements_removed"] + answer["lines_addressing_machines_removed"]
            )
            reported += removed > 0
            data = json.dumps(answer.pop("data"), ensure_ascii=False)
            leaked += CANARY in data
            assert CANARY not in json.dumps(answer)
        await index(database)
        for name, given in (
            ("search", {"query": "the", "limit": 50}), ("map", {"url": "http://one.test/"}),
            ("records", {}), ("products", {}), ("changes", {}), ("watches", {}),
            ("why", {"url": "http://one.test/p1"}),
        ):  # fmt: skip
            answer = await made.call(name, **given)
            answer.pop("data")
            assert CANARY not in json.dumps(answer, ensure_ascii=False), name
        job = (await made.call("crawl", url="http://one.test/", limit=60))["job"]
        answer = await made.call("crawl_status", job=job)
        answer.pop("data")
        assert CANARY not in json.dumps(answer, ensure_ascii=False)
        assert len(pages) == 50
        assert leaked == 0
        assert reported >= 30
        await index(database)
        for name, given in (
            ("search", {"query": "offer"}), ("map", {"url": "http://one.test/"}), ("records", {}),
            ("products", {}), ("changes", {}), ("why", {"url": "http://one.test/p0"}),
            ("watches", {}),
        ):  # fmt: skip
            answer = await made.call(name, **given)
            answer.pop("data")
            assert CANARY not in json.dumps(answer)


async def test_over_http_each_request_brings_its_key(database: Database, tmp_path: Path) -> None:
    uvicorn = pytest.importorskip("uvicorn")
    httpx_client = pytest.importorskip("mcp.client.streamable_http")
    assert httpx_client is not None
    key = await key_with_policy(database, ["one.test"])
    async with LittleWeb(tmp_path, {"one.test": rooms()}) as web:
        settings = web.settings(default_delay=0.0)
        async with FullText.of(settings, database) as full_text, at_work(settings, database):
            server, _ = server_module.make_server(settings, database, full_text, is_served=True)
            app = server.streamable_http_app(stateless_http=True, json_response=True)
            listening = listen()
            config = uvicorn.Config(app, log_level="warning", lifespan="on", ws="none")
            serving = uvicorn.Server(config)
            task = asyncio.create_task(serving.serve(sockets=[listening]))
            port = listening.getsockname()[1]
            said = {
                "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "messor_fetch", "arguments": {"url": "http://one.test/a"}},
            }  # fmt: skip
            accepts = {"Accept": "application/json, text/event-stream"}
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as http:
                for headers, text in (
                    ({}, "unauthenticated"),
                    ({"Authorization": "Bearer messor_nonsense"}, "bad_key"),
                    ({"Authorization": f"Bearer {key}"}, "It tells at length"),
                ):
                    reply = await http.post("/mcp", json=said, headers={**accepts, **headers})
                    assert text in reply.text, reply.text[:500]
            serving.should_exit = True
            await task
