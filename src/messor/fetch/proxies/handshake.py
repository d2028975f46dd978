"""Proxy handshakes: CONNECT and SOCKS5, until the tunnel stands.

A proxy is given an address, never a name: CONNECT (RFC 9110 section 9.3.6) over plain TCP or TLS,
and SOCKS5 (RFC 1928, RFC 1929). Plain http to a site goes through CONNECT as well. The older form,
`GET http://…` to the proxy, has no room for both a name and an address: the proxy would resolve the
name again, past the guard. A proxy that refuses CONNECT to port 80 is therefore useless for plain
http, and its error says so. Only codes of a proxy's replies are quoted.
"""

from __future__ import annotations

import asyncio
import base64
import re
from ipaddress import IPv4Address, IPv6Address
from typing import cast

from messor.fetch.proxies.proxy import Proxy, ProxyAddress, ProxyError, authority

Address = IPv4Address | IPv6Address

MAX_RESPONSE_BYTES = 16_384
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9][0-9])[ \r]")
_HEAD_END = b"\r\n\r\n"

_SOCKS = 5
_NO_LOGIN, _LOGIN, _NONE_FITS = 0, 2, 0xFF
_V4, _NAME, _V6 = 1, 3, 4
_SOCKS_REFUSALS = {
    1: "it failed",
    2: "its rules forbid the address",
    3: "the network is unreachable",
    4: "the host is unreachable",
    5: "the connection was refused",
    6: "the TTL expired",
    7: "it does not support CONNECT",
    8: "it does not support this type of address",
}
_NOT_ABOUT_THE_TARGET = 7


class Conversation(asyncio.Protocol):
    """A connection to a proxy during the handshake.

    Not a stream: a stream's writer closes the transport when it is dropped, and the transport is to
    be handed on to the site's protocol.
    """

    transport: asyncio.Transport

    def __init__(self) -> None:
        self._received = bytearray()
        self._ended = False
        self._changed = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Every connection's transport reads and writes; uvloop's has no common base class.
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        if len(self._received) > MAX_RESPONSE_BYTES:
            self.transport.abort()
        self._changed.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the base's signature
        self._ended = True
        self._changed.set()

    def write(self, data: bytes) -> None:
        self.transport.write(data)

    async def read(self, size: int) -> bytes:
        """Read the next `size` bytes."""
        while len(self._received) < size:
            await self._wait_for_data()
        return self._take(size)

    async def read_head(self) -> bytes:
        """Read the head of an HTTP response."""
        while (end := self._received.find(_HEAD_END)) < 0:
            await self._wait_for_data()
        return self._take(end + len(_HEAD_END))

    @property
    def is_over(self) -> bool:
        """Whether the peer hung up, or sent data out of turn."""
        return self._ended or bool(self._received) or self.transport.is_closing()

    async def _wait_for_data(self) -> None:
        if self._ended or len(self._received) > MAX_RESPONSE_BYTES:
            raise ProxyError("it hung up or sent too much")
        self._changed.clear()
        await self._changed.wait()

    def _take(self, size: int) -> bytes:
        taken = bytes(self._received[:size])
        del self._received[:size]
        return taken


async def request_tunnel(
    conversation: Conversation, proxy: Proxy, address: Address, port: int
) -> None:
    """Request a tunnel to an address from a proxy; it stands when this returns."""
    if proxy.endpoint.protocol == "socks5":
        await log_in(conversation, proxy)
        await _socks_connect(conversation, address, port)
    else:
        place = authority(str(address), port)
        status = await _request(conversation, proxy, f"CONNECT {place} HTTP/1.1", f"Host: {place}")
        if not 200 <= status < 300:
            raise _refused(proxy, place, status)
    if conversation.is_over:
        raise ProxyError("it hung up, or sent data before the site was contacted")


def _refused(proxy: Proxy, place: str, status: int) -> ProxyError:
    """The error for a refused CONNECT: no site has responded yet, so it is always the proxy's."""
    if status in (401, 407):  # tinyproxy sends 401
        message = "refused the login" if proxy.endpoint.username else "requires a login"
        return ProxyError(f"it {message} ({status})", login=True)
    message = "could not reach" if status >= 500 else "refuses to connect to"
    return ProxyError(f"it {message} {place} ({status})", at_target=True)


async def log_in(conversation: Conversation, proxy: Proxy) -> None:
    """The first half of SOCKS5: negotiate an authentication method, and log in."""
    has_login = bool(proxy.endpoint.username)
    methods = bytes([_NO_LOGIN, _LOGIN] if has_login else [_NO_LOGIN])
    conversation.write(bytes([_SOCKS, len(methods)]) + methods)
    version, method = await conversation.read(2)
    if version != _SOCKS:
        raise ProxyError("it does not speak SOCKS5")
    if method == _NONE_FITS or method not in methods:
        raise ProxyError(
            "it requires an unsupported login method" if has_login else "it requires a login",
            login=True,
        )
    if method == _LOGIN:
        username, password = proxy.endpoint.username.encode(), (proxy.password or "").encode()
        conversation.write(bytes([1, len(username)]) + username + bytes([len(password)]) + password)
        _, status = await conversation.read(2)
        if status != 0:
            raise ProxyError("it refused the login", login=True)


async def _socks_connect(conversation: Conversation, address: Address, port: int) -> None:
    kind = _V4 if address.version == 4 else _V6
    conversation.write(bytes([_SOCKS, 1, 0, kind]) + address.packed + port.to_bytes(2, "big"))
    version, status, _, bound = await conversation.read(4)
    if version != _SOCKS:
        raise ProxyError("it does not speak SOCKS5")
    if status != 0:
        why = _SOCKS_REFUSALS.get(status, f"it returned {status}")
        place = authority(str(address), port)
        raise ProxyError(f"connecting to {place}: {why}", at_target=status != _NOT_ABOUT_THE_TARGET)
    if bound == _NAME:
        (size,) = await conversation.read(1)
    elif bound in (_V4, _V6):
        size = 4 if bound == _V4 else 16
    else:
        raise ProxyError("it does not speak SOCKS5")
    await conversation.read(size + 2)


async def _request(conversation: Conversation, proxy: Proxy, *lines: str) -> int:
    """Send a request without a body to the proxy itself; returns the status."""
    login = _basic(proxy.endpoint, proxy.password)
    head = "\r\n".join([*lines, *login, "", ""])
    conversation.write(head.encode("ascii"))
    while True:
        answer = _STATUS.match(await conversation.read_head())
        if answer is None:
            raise ProxyError("it does not speak HTTP")
        status = int(answer[1])
        if status >= 200:
            return status


def _basic(endpoint: ProxyAddress, password: str | None) -> list[str]:
    if not endpoint.username:
        return []
    login = f"{endpoint.username}:{password or ''}".encode()
    return [f"Proxy-Authorization: Basic {base64.b64encode(login).decode()}"]
