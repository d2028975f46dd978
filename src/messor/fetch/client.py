"""A bare GET over aiohttp's connections: no cookies, redirects or retries.

aiohttp's session prepares for all of these, at several times the cost of the request. Connections,
their pool, guard and response parser are aiohttp's; what is written and when a response is complete
is decided here.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from aiohttp import (
    ClientConnectionError,
    ClientError,
    ClientOSError,
    ClientRequest,
    ClientTimeout,
    ServerDisconnectedError,
    StreamReader,
)
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http import RawResponseMessage
from multidict import CIMultiDictProxy
from yarl import URL

from messor.fetch.connector import PermitConnector
from messor.fetch.content_decoding import BodyTooLargeError
from messor.fetch.identity.signer import Fields, RequestSigner
from messor.politeness.pace import PERMIT, Permit
from messor.web.urls import Url

KNOWN_PEERS = 1_000
_CLOSED = "The connection was closed before the response."
_FORBIDDEN = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")  # in a field's value (RFC 9110 5.5)


class HttpReply(NamedTuple):
    """A site's response, its body as received."""

    status: int
    reason: str
    headers: CIMultiDictProxy[str]
    raw_headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


class _Peer(NamedTuple):
    """A peer to connect to, and the constant part of every request to it."""

    wanted: ClientRequest
    head: bytes


class Client:
    """Sends requests through one connector, always with the same headers."""

    def __init__(
        self,
        connector: PermitConnector,
        headers: Mapping[str, str],
        *,
        seconds: float,
        connect_seconds: float,
        signer: RequestSigner | None = None,
    ) -> None:
        self.connector = connector
        self._headers = headers
        self._signer = signer
        self._seconds = seconds  # for the whole exchange
        self._timeout = ClientTimeout(seconds, connect=seconds, sock_connect=connect_seconds)
        self._peers: dict[tuple[str, str, bool], _Peer] = {}

    async def close(self) -> None:
        await self.connector.close()

    async def get(
        self,
        url: Url,
        permit: Permit,
        conditions: Iterable[tuple[str, str]] = (),
        *,
        cap: int,
        cut: bool = False,
        verify: bool = True,
        price: Fields = (),
    ) -> HttpReply:
        """Send one request and read its response; a body over `cap` is refused, or cut a little
        past it. `price` is what is offered for the page; a signature covers it.
        """
        peer = self._peer(url, verify=verify)
        fields = _lines((*conditions, *price))
        deadline = asyncio.get_running_loop().time() + self._seconds
        connection = await self._connect(peer, permit)
        try:
            request = b"GET %b%b%b%b\r\n" % (
                url.target.encode("ascii"), peer.head, fields, self._signed(url, permit, price)
            )  # fmt: skip
            reply = await _exchange(connection, request, permit, deadline, cap=cap, cut=cut)
        except BaseException:
            connection.close()
            raise
        # A connection that was not read to the end, or that the site will not reuse, is closed.
        connection.release()
        return reply

    def _signed(self, url: Url, permit: Permit, price: Fields) -> bytes:
        """The lines that sign a request, made once it is certain to be written now."""
        made = self._signer.sign(url, self._headers, price) if self._signer else None
        if made is None:
            return b""
        permit.signed_by = made.key
        return made.lines

    async def _connect(self, peer: _Peer, permit: Permit) -> Connection:
        token = PERMIT.set(permit)
        try:
            return await self.connector.connect(peer.wanted, [], self._timeout)
        finally:
            PERMIT.reset(token)

    def _peer(self, url: Url, *, verify: bool) -> _Peer:
        key = (url.scheme, url.authority, verify)
        peer = self._peers.get(key)
        if peer is None:
            if len(self._peers) >= KNOWN_PEERS:
                self._peers.clear()
            place = URL(f"{url.origin}/", encoded=True)
            wanted = ClientRequest("GET", place, headers=self._headers, ssl=verify)
            head = b" HTTP/1.1\r\n%b" % _lines(wanted.headers.items())
            peer = self._peers[key] = _Peer(wanted, head)
        return peer


async def _exchange(
    connection: Connection, request: bytes, permit: Permit, deadline: float, *, cap: int, cut: bool
) -> HttpReply:
    """Write a request to a ready connection and read its response."""
    protocol, transport = connection.protocol, connection.transport
    if protocol is None or transport is None or transport.is_closing():
        raise ClientConnectionError(_CLOSED)
    loop = asyncio.get_running_loop()
    # Aborting the connection wakes the reader.
    timer = loop.call_at(deadline, transport.abort)
    try:
        protocol.set_response_params(read_until_eof=True, auto_decompress=False)
        transport.write(request)
        message, content = await _head(protocol)
        permit.answered()
        body = await _read(message, content, cap, cut=cut)
    except ClientError as error:
        if loop.time() >= deadline:
            raise TimeoutError from error
        raise
    finally:
        timer.cancel()
    if loop.time() >= deadline:
        raise TimeoutError  # the abort may have looked like the end of the body
    return HttpReply(message.code, message.reason or "", message.headers, message.raw_headers, body)


async def _head(protocol: ResponseHandler) -> tuple[RawResponseMessage, StreamReader]:
    """The head of a response, once received, and its body stream."""
    try:
        while True:
            message, content = await protocol.read()
            if not 100 <= message.code < 200 or message.code == 101:
                return message, content  # informational (1xx) heads only announce the response
    except (ClientOSError, ServerDisconnectedError) as error:
        raise ClientConnectionError(_CLOSED) from error


async def _read(
    message: RawResponseMessage, content: StreamReader, cap: int, *, cut: bool
) -> bytes:
    """The body up to the cap; a Content-Length above it is refused unread."""
    length = message.headers.get("Content-Length", "")
    if not cut and length.isdigit() and int(length) > cap:
        raise BodyTooLargeError(f"Content-Length is more than {cap} bytes")
    parts: list[bytes] = []
    size = 0
    while not content.at_eof() and (part := await content.readany()):
        parts.append(part)
        size += len(part)
        if size > cap:
            if cut:
                break
            raise BodyTooLargeError(f"the body is more than {cap} bytes", size)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _lines(fields: Iterable[tuple[str, str]]) -> bytes:
    """Serialise header fields; a value must not smuggle in another line."""
    lines = []
    for name, value in fields:
        if _FORBIDDEN.search(value):
            raise ValueError(f"Header {name} contains a control character and is not sent.")
        lines.append(f"{name}: {value}\r\n")
    return "".join(lines).encode()
