"""Proxies on loopback that note what they were asked for: http, https and socks5, with logins."""

from __future__ import annotations

import asyncio
import base64
import ssl
from ipaddress import ip_address
from typing import Self

from messor.fetch.proxies.proxy import Proxy, ProxyAddress

USER, PASSWORD = "ant", "s3same öpen!"


class ProxyServer:
    """Serves while the context is open; its conduct may be changed while it runs."""

    def __init__(
        self,
        protocol: str = "http",
        *,
        login: tuple[str, str] | None = None,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self.protocol = protocol
        self.login = login
        self.asked: list[str] = []  # places, as they were asked for
        self.heads: list[bytes] = []  # all that was said before the tunnel stood
        self.connections = 0
        self.stranger = 407  # what it says to a wrong login; tinyproxy says 401
        self.refusal = 0  # an HTTP status or a SOCKS reply, instead of a tunnel
        self.unreachable: set[str] = set()  # places it answers 502 for
        self.mute = False  # accepts, and says nothing
        self.chatty = b""  # said after the tunnel was granted, before anybody asked
        self.hangs_up = False  # grants the tunnel, then closes
        self._context = context
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._accept, "127.0.0.1", self.port, ssl=self._context
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def proxy(self, number: int = 1, *, host: str = "127.0.0.1", password: str = "") -> Proxy:
        """How to reach it, with its login unless another password is given."""
        user, known = self.login or ("", None)
        endpoint = ProxyAddress(self.protocol, host, self.port, user)
        return Proxy(number, endpoint, password or known, trusted=True)

    def url(self) -> str:
        """Without the password."""
        return self.proxy().endpoint.url

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            if self.mute:
                await reader.read()
            elif self.protocol == "socks5":
                await self._socks(reader, writer)
            else:
                await self._http(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()
            self._tasks.discard(task)

    async def _http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        method, place, _ = head.partition(b"\r\n")[0].decode().split(" ")
        if method == "OPTIONS":  # squid answers that before it looks at the login
            writer.write(b"HTTP/1.1 501 Not Implemented\r\nContent-Length: 0\r\n\r\n")
            return await writer.drain()
        if self.login is not None:
            login = base64.b64encode(":".join(self.login).encode())
            if b"\r\nProxy-Authorization: Basic " + login + b"\r\n" not in head:
                who = f"HTTP/1.1 {self.stranger} Who are you?\r\nContent-Length: 0\r\n\r\n"
                writer.write(who.encode())
                return await writer.drain()
        if method != "CONNECT":
            writer.write(b"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n")
            return await writer.drain()
        self.asked.append(place)
        if refusal := self.refusal or (502 if place in self.unreachable else 0):
            writer.write(f"HTTP/1.1 {refusal} {PASSWORD}\r\n\r\n".encode())
            return await writer.drain()
        writer.write(b"HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n" + self.chatty)
        host, _, port = place.rpartition(":")
        return await self._relay(reader, writer, host.strip("[]"), int(port))

    async def _socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        version, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        wanted = 2 if self.login else 0
        if wanted not in methods:
            writer.write(b"\x05\xff")
            return await writer.drain()
        writer.write(bytes([version, wanted]))
        if self.login is not None:
            _, size = await reader.readexactly(2)
            user = await reader.readexactly(size)
            (size,) = await reader.readexactly(1)
            password = await reader.readexactly(size)
            good = (user.decode(), password.decode()) == self.login
            writer.write(b"\x01" + (b"\x00" if good else b"\x01"))
            if not good:
                return await writer.drain()
        request = await reader.readexactly(4)
        size = {1: 4, 4: 16}[request[3]]  # an address; a name would be 3
        packed, port = await reader.readexactly(size), await reader.readexactly(2)
        self.heads.append(request + packed + port)
        place = str(ip_address(packed)), int.from_bytes(port, "big")
        self.asked.append(f"{place[0]}:{place[1]}")
        writer.write(bytes([5, self.refusal, 0, 1]) + b"\x7f\x00\x00\x01\x00\x00" + self.chatty)
        if self.refusal:
            return await writer.drain()
        return await self._relay(reader, writer, *place)

    async def _relay(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int
    ) -> None:
        await writer.drain()
        if self.hangs_up:
            return
        far_reader, far_writer = await asyncio.open_connection(host, port)
        try:
            await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        finally:
            far_writer.transport.abort()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    writer.close()
