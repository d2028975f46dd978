"""The limits as a caller meets them on a real socket: heads, bodies, readers, proxies."""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import AsyncExitStack

import pytest

from messor.api.routes.tasks import UPLOAD
from messor.console.app import STATIC
from messor.runtime.server import protocol
from tests.runtime.conftest import Open, ask

FORM = b"Content-Type: application/x-www-form-urlencoded\r\n"
HOST = b"Host: localhost\r\n"


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


async def test_a_head_has_so_long(open_doors: Open) -> None:
    port = await open_doors(listen_head_seconds=0.5)
    began = time.monotonic()
    assert status(await ask(port, b"GET / HTTP/1.1\r\nHost: loc")) == 408
    assert status(await ask(port, b"")) == 408
    assert 0.9 < time.monotonic() - began < 5


async def test_the_second_head_of_a_connection_has_no_longer(open_doors: Open) -> None:
    port = await open_doors(listen_head_seconds=0.6)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /api/v1/health/live HTTP/1.1\r\n" + HOST + b"\r\n")
    assert status(await reader.readuntil(b"\r\n\r\n")) == 200
    for _ in range(30):  # a byte now and then
        writer.write(b"G")
        await asyncio.sleep(0.1)
        if reader.at_eof() or b"408" in reader._buffer:  # type: ignore[attr-defined]
            break
    else:
        pytest.fail("it was let go on")
    writer.close()


async def test_a_body_may_not_stall(open_doors: Open) -> None:
    port = await open_doors(listen_body_seconds=0.5)
    head = b"POST /login HTTP/1.1\r\n" + HOST + FORM + b"Content-Length: 4000\r\n\r\n"
    assert status(await ask(port, head + b"email=a")) == 408


async def test_a_slow_but_steady_body_arrives(
    open_doors: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "SLOWEST_BODY", 500)
    port = await open_doors(listen_body_seconds=0.4)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        b"POST /login HTTP/1.1\r\n"
        + HOST
        + FORM
        + b"Connection: close\r\nContent-Length: 4000\r\n\r\n"
    )
    for _ in range(10):
        writer.write(b"x" * 400)
        await asyncio.sleep(0.1)
    answer = await asyncio.wait_for(reader.read(), 20)
    assert status(answer) == 403  # read whole, and without the token of a form
    writer.close()


@pytest.mark.parametrize("kind", [FORM, b"Content-Type: multipart/form-data; boundary=b\r\n"])
async def test_a_login_takes_little_before_anybody_is_known(open_doors: Open, kind: bytes) -> None:
    port = await open_doors()
    head = b"POST /login HTTP/1.1\r\n" + HOST + kind
    expected = 413 if kind == FORM else 415
    assert status(await ask(port, head + b"Content-Length: 16000000\r\n\r\n")) == expected
    chunks = b"4001\r\n" + b"x" * 0x4001 + b"\r\n"
    assert (
        status(await ask(port, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)) == expected
    )


async def test_the_api_reads_nothing_of_strangers(open_doors: Open) -> None:
    port = await open_doors()
    head = (
        b"POST /api/v1"
        + UPLOAD.encode()
        + b" HTTP/1.1\r\n"
        + HOST
        + b"Content-Length: 16000000\r\n\r\n"
    )
    assert status(await ask(port, head)) == 401


async def test_users_behind_a_proxy_do_not_share_a_limit(open_doors: Open) -> None:
    port = await open_doors(trusted_proxies=["127.0.0.1"], listen_connections_per_address=2)
    stalled = (
        b"POST /login HTTP/1.1\r\n"
        + HOST
        + FORM
        + b"Content-Length: 9\r\nX-Forwarded-For: %s\r\n\r\n"
    )
    quick = b"GET /login HTTP/1.1\r\n" + HOST + b"Connection: close\r\nX-Forwarded-For: %s\r\n\r\n"
    async with AsyncExitStack() as opened:
        for user in (b"192.0.2.1", b"192.0.2.1", b"192.0.2.2"):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            opened.callback(writer.close)
            writer.write(stalled % user)
        await asyncio.sleep(0.2)
        assert status(await ask(port, quick % b"192.0.2.1")) == 429
        assert status(await ask(port, quick % b"192.0.2.2")) == 200
        assert status(await ask(port, quick % b"192.0.2.3")) == 200


async def test_strangers_may_look_so_often(open_doors: Open) -> None:
    port = await open_doors(console_stranger_requests_per_minute=3)
    look = b"GET /login HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
    answers = [await ask(port, look) for _ in range(4)]
    assert [status(answer) for answer in answers] == [200, 200, 200, 429]
    assert b"retry-after: " in answers[-1].lower()
    assert status(await ask(port, look, address="127.0.0.2")) == 200


async def test_an_answer_that_nobody_reads_is_given_up(
    open_doors: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "WRITE_SECONDS", 0.5)
    port = await open_doors()
    head = b"GET /static/vendor/tabler.min.css HTTP/1.1\r\n" + HOST + b"\r\n"
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
        for _ in range(40):  # pipelined: many megabytes
            await asyncio.get_running_loop().sock_sendall(sock, head)
        await asyncio.sleep(1.5)
        size = (STATIC / "vendor" / "tabler.min.css").stat().st_size
        assert await _rest(sock) < 30 * size


async def _rest(sock: socket.socket) -> int:
    """How many bytes still come."""
    size = 0
    try:
        while some := await asyncio.wait_for(
            asyncio.get_running_loop().sock_recv(sock, 65_536), 30
        ):
            size += len(some)
    except ConnectionResetError:
        pass
    return size


async def test_websockets_are_no_way_around(open_doors: Open) -> None:
    port = await open_doors()
    head = (
        b"GET /live HTTP/1.1\r\n" + HOST + b"Connection: Upgrade, close\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    assert status(await ask(port, head)) == 403  # nothing listens there
