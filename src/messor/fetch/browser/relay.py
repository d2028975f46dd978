"""Relays bytes between browser and host over an approved connection, counted in both directions.

A tunnel is relayed as is. A plain request is relayed as one message: neither a body longer than
announced nor a second request reaches the host.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Coroutine
from typing import Any

from messor.fetch.browser.heads import ProxyRequest, final_answer
from messor.fetch.browser.traffic import Traffic, place_of

CHUNK = 65_536

Streams = tuple[StreamReader, StreamWriter]


async def carry(request: ProxyRequest, traffic: Traffic, browser: Streams, host: Streams) -> None:
    place = place_of(request.url)
    if request.is_tunnel:
        browser[1].write(b"HTTP/1.1 200 Connection Established\r\n\r\n")
        up = _pump(browser[0], host[1], lambda size: traffic.sent(place, size))
    elif await _pass_message(request, traffic, browser, host):
        up = _drop(browser[0])
    else:
        return
    try:
        await _either(up, _pump(host[0], browser[1], lambda size: traffic.received(place, size)))
    except OSError:
        _reset(browser[1])


async def _pass_message(
    request: ProxyRequest, traffic: Traffic, browser: Streams, host: Streams
) -> bool:
    """Relay one plain request with its body, and the head of its response."""
    place, length = place_of(request.url), request.body_length
    if length is None:
        reply(browser, 411, "Length Required")
        return False
    host[1].write(request.onward())
    while length > 0:
        chunk = await browser[0].read(min(length, CHUNK))
        if not chunk or not traffic.sent(place, len(chunk)):
            return False
        host[1].write(chunk)
        await host[1].drain()
        length -= len(chunk)
    return await _pass_head(place, traffic, browser, host)


async def _pass_head(place: str, traffic: Traffic, browser: Streams, host: Streams) -> bool:
    """Relay the final response's head; informational ones (1xx) are dropped."""
    while True:
        head = await host[0].readuntil(b"\r\n\r\n")
        answer = final_answer(head)
        if answer is None or not traffic.received(place, len(head)):
            return False
        status, onward = answer
        if status >= 200:
            browser[1].write(onward)
            return True


async def _pump(source: StreamReader, sink: StreamWriter, may_go: Callable[[int], bool]) -> None:
    while chunk := await source.read(CHUNK):
        if not may_go(len(chunk)):
            _reset(sink)
            return
        sink.write(chunk)
        await sink.drain()


def _reset(writer: StreamWriter) -> None:
    """Abort a connection so that the other side notices: a graceful close would look complete."""
    connection = writer.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _drop(source: StreamReader) -> None:
    """Wait for the browser to hang up; a second request on this connection is discarded."""
    while await source.read(CHUNK):
        pass


async def _either(*ways: Coroutine[Any, Any, None]) -> None:
    """Run both directions until one of them ends."""
    tasks = [asyncio.ensure_future(way) for way in ways]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def reply(browser: Streams, status: int, reason: str, extra: str = "") -> None:
    """A response of the proxy itself."""
    head = f"HTTP/1.1 {status} {reason}\r\n{extra}Content-Length: 0\r\nConnection: close\r\n\r\n"
    browser[1].write(head.encode())
