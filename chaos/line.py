"""The line between the workers and PostgreSQL: while it is cut, bytes go nowhere and nothing is told."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from urllib.parse import unquote, urlsplit, urlunsplit

CHUNK = 65_536


class Line:
    """A relay on a port of its own; workers connect to it in PostgreSQL's place."""

    def __init__(self, dsn: str) -> None:
        self._parts = urlsplit(dsn)
        self._whole = asyncio.Event()
        self._whole.set()
        self._pumps: set[asyncio.Task[None]] = set()
        self.dsn = dsn

    def cut(self) -> None:
        """As a switch that fails: connections stay open at both ends and carry nothing."""
        self._whole.clear()

    def mend(self) -> None:
        self._whole.set()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._whole.wait()
        try:
            far_reader, far_writer = await self._reach()
        except OSError:
            writer.close()
            return
        pumps = [
            asyncio.create_task(self._pump(reader, far_writer)),
            asyncio.create_task(self._pump(far_reader, writer)),
        ]
        self._pumps.update(pumps)
        try:
            await asyncio.wait(pumps)
        finally:
            self._pumps.difference_update(pumps)

    async def _reach(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, _, port = self._parts.netloc.rpartition("@")[2].rpartition(":")
        place = unquote(host)
        if place.startswith("/"):
            return await asyncio.open_unix_connection(f"{place}/.s.PGSQL.{port}")
        return await asyncio.open_connection(place, int(port))

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(OSError):
                while data := await reader.read(CHUNK):
                    await self._whole.wait()
                    writer.write(data)
                    await writer.drain()
        finally:
            writer.close()

    async def _close(self) -> None:
        pumps = list(self._pumps)
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)


@contextlib.asynccontextmanager
async def open_line(dsn: str) -> AsyncIterator[Line]:
    line = Line(dsn)
    server = await asyncio.start_server(line._connect, "127.0.0.1", 0)  # noqa: SLF001 - its only user
    port = server.sockets[0].getsockname()[1]
    parts = urlsplit(dsn)
    login, _, _ = parts.netloc.rpartition("@")
    line.dsn = urlunsplit(parts._replace(netloc=f"{login}@127.0.0.1:{port}"))
    try:
        yield line
    finally:
        server.close()
        await line._close()  # noqa: SLF001 - its only user
