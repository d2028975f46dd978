"""The pinning proxy: the browser's only way out.

It resolves every name itself, has the address guard check each address, and connects to exactly the
address that was checked; so redirects, sub-resources, WebSockets and DNS rebinding reach nothing
that our own HTTP could not reach. Each render has its own credential, so every connection is
accounted to its render; a connection without a credential is refused.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address

from aiohappyeyeballs import start_connection

from messor.errors import LeaseLostError
from messor.fetch.browser.heads import MAX_HEAD, ProxyRequest, parse_request
from messor.fetch.browser.relay import Streams, carry, reply
from messor.fetch.browser.traffic import Traffic, place_of
from messor.fetch.guard import AddressGuard, AddrInfo, GuardedResolver, RefusedAddressError
from messor.web.suffixes import is_ip_literal
from messor.web.urls import Url

HEAD_SECONDS = 10.0
HAPPY_EYEBALLS_DELAY = 0.25  # RFC 8305
_ASK = 'Proxy-Authenticate: Basic realm="messor"\r\n'


class PinningProxy:
    """A forward proxy on loopback for admitted renders."""

    def __init__(self, guard: AddressGuard, *, connect_timeout: float) -> None:
        self.url = ""
        self._guard = guard
        self._resolver = GuardedResolver(guard)
        self._connect_timeout = connect_timeout
        self._renders: dict[str, Traffic] = {}
        self._serving: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=MAX_HEAD)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._serving:
            task.cancel()
        if self._serving:
            await asyncio.wait(self._serving)
        await self._resolver.close()

    @contextmanager
    def admitting(self, traffic: Traffic) -> Iterator[tuple[str, str]]:
        """Issue a credential for one render; it and its connections end with the render."""
        user, password = secrets.token_hex(8), secrets.token_hex(16)
        self._renders[f"{user}:{password}"] = traffic
        try:
            yield user, password
        finally:
            del self._renders[f"{user}:{password}"]
            traffic.close()

    def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Serve one request from the browser, on its own connection."""
        try:
            with suppress(OSError, EOFError, asyncio.LimitOverrunError):
                async with asyncio.timeout(HEAD_SECONDS):
                    request = parse_request(await reader.readuntil(b"\r\n\r\n"))
                await self._answer(request, (reader, writer))
        finally:
            writer.close()

    async def _answer(self, request: ProxyRequest | None, browser: Streams) -> None:
        if request is None:
            reply(browser, 400, "Bad Request")
            return
        traffic = self._renders.get(request.credential or "")
        if traffic is None:
            reply(browser, 407, "Proxy Authentication Required", _ASK)
            return
        with _held(traffic, browser):
            host = await self._reach(request, traffic, browser)
            if host is not None:
                with _held(traffic, host):
                    await carry(request, traffic, browser, host)

    async def _reach(
        self, request: ProxyRequest, traffic: Traffic, browser: Streams
    ) -> Streams | None:
        """Open a connection to the host that is ready for writing; refusals and faults are
        reported.
        """
        place = place_of(request.url)
        try:
            reason = traffic.refusal(place) or self._guard.refusal_of_url(request.url)
            if reason is not None:
                raise RefusedAddressError(reason)  # noqa: TRY301 - one end for all refusals
            host = await self._connect(request.url)
        except RefusedAddressError as error:
            traffic.refuse(place, error.strerror or "")
            reply(browser, 403, "Forbidden")
        except TimeoutError:
            traffic.break_off(place, "timeout", "no connection in time")
            reply(browser, 504, "Gateway Timeout")
        except OSError as error:
            reason = error.strerror or str(error)
            kind = "dns" if isinstance(error, _UnknownNameError) else "connect"
            traffic.break_off(place, kind, f"{request.url.host}: {reason}")
            reply(browser, 502, "Bad Gateway")
        else:
            return _depart(traffic, place, browser, host)
        return None

    async def _connect(self, url: Url) -> Streams:
        async with asyncio.timeout(self._connect_timeout):
            addresses = await self._addresses(url)
            connection = await start_connection(
                addresses,
                happy_eyeballs_delay=HAPPY_EYEBALLS_DELAY,
                socket_factory=self._guard.socket_factory,
            )
        return await asyncio.open_connection(sock=connection, limit=MAX_HEAD)

    async def _addresses(self, url: Url) -> list[AddrInfo]:
        """All addresses of a host, each checked: one refused address refuses the name."""
        places = await self._resolve(url)
        for address, port in places:
            refusal = self._guard.refusal(ip_address(address.partition("%")[0]), port)
            if refusal is not None:
                raise RefusedAddressError(f"{url.host}: {refusal}")
        return [_addr_info(address, port) for address, port in places]

    async def _resolve(self, url: Url) -> list[tuple[str, int]]:
        if is_ip_literal(url.host) and f"{url.host}:{url.port}" not in self._guard.names:
            return [(url.host.strip("[]"), url.port)]
        try:
            found = await self._resolver.resolve(url.host, url.port, socket.AF_UNSPEC)
        except (RefusedAddressError, TimeoutError):
            raise
        except OSError as error:
            raise _UnknownNameError(error.errno, "the name does not resolve") from error
        return [(result["host"], result["port"]) for result in found]


class _UnknownNameError(OSError):
    """DNS has no address for a name."""


def _addr_info(address: str, port: int) -> AddrInfo:
    if ":" in address:
        return socket.AF_INET6, socket.SOCK_STREAM, 0, "", (address, port, 0, 0)
    return socket.AF_INET, socket.SOCK_STREAM, 0, "", (address, port)


def _depart(traffic: Traffic, place: str, browser: Streams, host: Streams) -> Streams | None:
    """The final check, on the ready connection."""
    try:
        traffic.depart(place)
    except (LeaseLostError, ConnectionAbortedError):
        host[1].transport.abort()
        reply(browser, 403, "Forbidden")
        return None
    return host


@contextmanager
def _held(traffic: Traffic, streams: Streams) -> Iterator[None]:
    """Tie a connection to its render, and close it at the end."""
    _, writer = streams
    traffic.hold(writer.transport)
    try:
        yield
    finally:
        traffic.release(writer.transport)
        writer.close()
