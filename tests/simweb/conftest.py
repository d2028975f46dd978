"""A served world in the test's own loop, and a client that shows the bytes as they are."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from simweb import Server, World
from simweb.requestlog import LoggedRequest, read_log

PATIENCE_S = 60.0


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes


class Client:
    def __init__(self, server: Server, log_file: Path) -> None:
        self.server = server
        self._log_file = log_file

    async def connect(
        self, host: str, *, secure: bool = False
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        address, port = self.server.names()[f"{host}:{443 if secure else 80}"].split(":")
        if not secure:
            return await asyncio.open_connection(address, int(port))
        context = ssl.create_default_context(cafile=str(self.server.ca_file))
        return await asyncio.open_connection(address, int(port), ssl=context, server_hostname=host)

    async def get(
        self,
        host: str,
        path: str = "/",
        *,
        secure: bool = False,
        method: str = "GET",
        **headers: str,
    ) -> Reply:
        """One request on a connection of its own, read as its framing says."""
        reader, writer = await self.connect(host, secure=secure)
        try:
            writer.write(head(host, path, method, **headers))
            return await asyncio.wait_for(read_reply(reader, method), PATIENCE_S)
        finally:
            writer.close()

    def requests(self) -> list[LoggedRequest]:
        self.server.log.flush()
        return read_log(self._log_file)


def head(host: str, path: str = "/", method: str = "GET", **headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


async def read_head(reader: asyncio.StreamReader) -> Reply:
    raw = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = raw.strip().split("\r\n")
    pairs = (line.partition(": ") for line in lines)
    return Reply(int(first.split()[1]), {name.lower(): value for name, _, value in pairs}, b"")


async def read_reply(reader: asyncio.StreamReader, method: str = "GET") -> Reply:
    reply = await read_head(reader)
    if method == "HEAD" or reply.status == 304:
        return reply
    body = await reader.readexactly(int(reply.headers["content-length"]))
    return Reply(reply.status, reply.headers, body)


Serving = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def serving(tmp_path: Path) -> Serving:
    @asynccontextmanager
    async def served(world: World, **options: Any) -> AsyncIterator[Client]:
        log_file = tmp_path / "requests.tsv"
        server = Server(world, log_file=log_file, **options)
        await server.start()
        try:
            yield Client(server, log_file)
        finally:
            await server.stop()

    return served
