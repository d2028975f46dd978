"""The tools over HTTP: each request brings its key, and strangers cannot exhaust the server."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from messor.insight.full_text import FullText
from messor.settings import Settings
from messor.store.database import Database
from tests.api.firecrawl.conftest import key_with_policy, rooms
from tests.crawling import at_work
from tests.listening import listen
from tests.little_web import LittleWeb

sdk = pytest.importorskip("mcp", reason="the package mcp is not here: pip install 'messor[mcp]'")
server_module = pytest.importorskip("messor.mcp.server")
serving = pytest.importorskip("messor.mcp.http_server")

ACCEPTS = {"Accept": "application/json, text/event-stream"}


def call(request: int, method: str, **given: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request, "method": method, "params": given}


@dataclass
class Served:
    port: int
    key: str
    http: httpx.AsyncClient

    async def ask(self, said: Any, key: str | None, **headers: str) -> httpx.Response:
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        return await self.http.post("/mcp", json=said, headers={**ACCEPTS, **headers})


@contextlib.asynccontextmanager
async def served(
    database: Database, settings: Settings, key: str, host: str = "127.0.0.1"
) -> AsyncIterator[Served]:
    async with FullText.of(settings, database) as full_text:
        server, _ = server_module.make_server(settings, database, full_text, is_served=True)
        listening = listen()
        port = listening.getsockname()[1]
        web = serving.http_server(server, settings, database, host=host, port=port)
        task = asyncio.create_task(web.serve(sockets=[listening]))
        base = f"http://127.0.0.1:{port}"
        try:
            async with httpx.AsyncClient(base_url=base, timeout=60) as http:
                yield Served(port, key, http)
        finally:
            web.should_exit = True
            await task


@pytest.fixture
async def mcp(database: Database, tmp_path: Path) -> AsyncIterator[Served]:
    key = await key_with_policy(database, ["one.test"])
    settings = Settings(
        data_dir=tmp_path,
        api_stranger_requests_per_minute=5,
        listen_head_seconds=1,
        listen_body_seconds=1,
        listen_connections_per_address=8,
    )
    async with served(database, settings, key) as made:
        yield made


async def test_each_request_brings_its_key(database: Database, tmp_path: Path) -> None:
    key = await key_with_policy(database, ["one.test"])
    async with LittleWeb(tmp_path, {"one.test": rooms()}) as web:
        settings = web.settings(default_delay=0.0)
        async with at_work(settings, database), served(database, settings, key) as made:
            asked = call(
                1, "initialize", protocolVersion="2025-06-18", capabilities={},
                clientInfo={"name": "test", "version": "1"},
            )  # fmt: skip
            opened = await made.ask(asked, made.key)
            assert opened.status_code == 200, opened.text
            session = {
                "Mcp-Session-Id": opened.headers["Mcp-Session-Id"],
                "Mcp-Protocol-Version": "2025-06-18",
            }
            said = call(
                2, "tools/call", name="messor_fetch", arguments={"url": "http://one.test/a"}
            )
            for wrong, code in ((None, "unauthenticated"), ("messor_nonsense", "bad_key")):
                reply = await made.ask(said, wrong, **session)
                assert (reply.status_code, code in reply.text) == (401, True), reply.text
                assert reply.headers["WWW-Authenticate"] == "Bearer"
            reply = await made.ask(said, made.key, **session)
            assert "It tells at length" in reply.text, reply.text[:500]


async def test_strangers_begin_no_session_and_are_slowed_down(mcp: Served) -> None:
    said = call(1, "initialize")
    statuses = [(await mcp.ask(said, "messor_nonsense")).status_code for _ in range(8)]
    assert statuses == [401] * 5 + [429] * 3
    assert (await mcp.ask(said, mcp.key)).status_code not in (401, 429)


async def test_another_name_is_refused(database: Database, tmp_path: Path) -> None:
    """Also when it is served to the network, where the SDK checks no name."""
    key = await key_with_policy(database, ["one.test"])
    async with served(database, Settings(data_dir=tmp_path), key, "0.0.0.0") as made:
        reply = await made.ask(call(1, "ping"), made.key, Host="rebound.example")
        assert (reply.status_code, "rebound.example" in reply.text) == (421, True)


async def test_a_long_body_is_refused(mcp: Served) -> None:
    reply = await mcp.ask(call(1, "ping", padding="x" * serving.MOST_BODY), mcp.key)
    assert reply.status_code == 413


async def test_a_stranger_is_not_waited_for(mcp: Served) -> None:
    """The key is looked at before the body has arrived."""
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{mcp.port}\r\nContent-Length: 900000\r\n"
        "Content-Type: application/json\r\n\r\n"
    )
    assert b" 401 " in await _until_closed(mcp.port, head.encode())


@pytest.mark.parametrize("head", [b"", b"POST /mcp HTTP/1.1\r\nHost: loc"])
async def test_a_slow_head_is_ended(mcp: Served, head: bytes) -> None:
    began = time.monotonic()
    answer = await _until_closed(mcp.port, head)
    assert b" 408 " in answer
    assert time.monotonic() - began < 5


async def test_one_address_holds_few_connections(mcp: Served) -> None:
    held = [socket.create_connection(("127.0.0.1", mcp.port)) for _ in range(30)]
    try:
        reply = await mcp.ask(call(1, "initialize"), "messor_nonsense")
        assert reply.status_code == 401
        ended = await asyncio.to_thread(lambda: sum(_is_ended(sock) for sock in held))
        assert ended >= 22
    finally:
        for sock in held:
            sock.close()


async def _until_closed(port: int, said: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(said)
    try:
        return await asyncio.wait_for(reader.read(), 20)
    finally:
        writer.close()


def _is_ended(sock: socket.socket) -> bool:
    sock.setblocking(False)
    try:
        return sock.recv(100) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
