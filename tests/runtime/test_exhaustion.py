"""Strangers who hold connections, heads and bodies open, against a real `messor up`.

Its process may open 1,024 files, and so fewer than the connections that are made to it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.crawling import until

pytestmark = pytest.mark.alone

FILES = 1_024
MOST_MEGABYTES = 250
MOST_SECONDS = 1.0
ATTACKER, BYSTANDER = "127.0.0.66", "127.0.0.9"
HEAD = b"GET /login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
LOGIN = (
    b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16000000\r\n"
    b"Content-Type: multipart/form-data; boundary=b\r\n\r\n"
)
PART = b'--b\r\nContent-Disposition: form-data; name="f"%s\r\n\r\n'
BEGUN = (
    b"POST /login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\n5\r\nemail\r\n"
)
STYLES = b"GET /static/vendor/tabler.min.css HTTP/1.1\r\nHost: localhost\r\n\r\n" * 5
PIPELINED = b"GET /login HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20
FIELDS = (PART % b"") + b"x" * 480_000 + b"\r\n"
FILE = PART % b'; filename="f"'


@dataclass
class Up:
    """A running `messor up`."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def server(self) -> psutil.Process:
        """The process that serves; the one that was started only supervises."""
        children = psutil.Process(self.process.pid).children()
        (server,) = [child for child in children if "--socket" in child.cmdline()]
        return server

    @property
    def megabytes(self) -> float:
        return self.server.memory_info().rss / 1e6

    @property
    def workers(self) -> list[psutil.Process]:
        found = psutil.Process(self.process.pid).children()
        return [one for one in found if _is_worker(one)]


def _is_worker(process: psutil.Process) -> bool:
    try:
        return "worker" in process.cmdline()
    except psutil.Error:  # it has just ended
        return False


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


@pytest.fixture
async def up(dsn: str, tmp_path: Path) -> AsyncIterator[Up]:
    port, log = _free_port(), tmp_path / "up.log"
    environment = {
        "MESSOR_DATABASE_URL": dsn,
        "MESSOR_DATA_DIR": str(tmp_path / "data"),
        "MESSOR_LISTEN_PORT": str(port),
    }
    command = f'ulimit -n {FILES}; exec "{sys.executable}" -m messor up --workers 1'
    with log.open("wb") as out:
        process = subprocess.Popen(  # noqa: ASYNC220 - it only starts it
            ["sh", "-c", command], cwd=tmp_path, env={**os.environ, **environment}, stderr=out
        )
    try:
        await until(lambda: _listens(port), 60)
        assert await waited(port, patience=60)  # connections wait while the server starts
        yield Up(process, port, log)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        finally:
            process.kill()


def _listens(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def leaning(
    port: int, count: int, say: bytes, address: str = ATTACKER, *, buffer: int | None = None
) -> Iterator[list[socket.socket]]:
    """So many connections that say something and then wait."""
    held: list[socket.socket] = []
    try:
        for _ in range(count):
            sock = socket.socket()
            sock.settimeout(5)
            if buffer is not None:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
            sock.bind((address, 0))
            held.append(sock)
            with contextlib.suppress(OSError):
                sock.connect(("127.0.0.1", port))
                sock.send(say)
        yield held
    finally:
        for sock in held:
            sock.close()


async def waited(port: int, address: str = BYSTANDER, patience: float = 30) -> float:
    """How long the login page takes for somebody else."""
    began = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    writer.write(HEAD)
    answer = await asyncio.wait_for(reader.read(), patience)
    writer.close()
    assert b" 200 " in answer.splitlines()[0], answer[:300]
    return time.monotonic() - began


async def holds(up: Up) -> None:
    """Others are served, memory stays small, nothing has ended."""
    times = [await waited(up.port) for _ in range(5)]
    assert max(times) <= MOST_SECONDS, times
    assert up.megabytes <= MOST_MEGABYTES
    assert up.process.poll() is None
    assert len(up.workers) == 1, up.log.read_text()


@pytest.mark.parametrize(
    "say", [b"", pytest.param(b"GET /login HTTP/1.1\r\nHost: local", marks=pytest.mark.wide)]
)
async def test_half_open_connections(up: Up, say: bytes) -> None:
    await waited(up.port)
    with leaning(up.port, 1_100, say):
        await holds(up)
        (worker,) = up.workers
        worker.kill()
        await until(lambda: bool(up.workers) and up.workers[0].pid != worker.pid, 30)
        await holds(up)


async def test_half_open_connections_from_many_addresses(up: Up) -> None:
    await waited(up.port)
    with contextlib.ExitStack() as stack:
        for last in range(100, 155):
            stack.enter_context(leaning(up.port, 20, b"GET", f"127.0.0.{last}"))
        await holds(up)


async def test_bodies_that_stand_still_from_many_addresses(up: Up) -> None:
    """As many requests as there may be connections, each begun and never sent to its end."""
    await waited(up.port)
    with contextlib.ExitStack() as stack:
        for last in range(100, 110):
            stack.enter_context(leaning(up.port, 64, BEGUN, f"127.0.0.{last}"))
        await holds(up)


@pytest.mark.wide
async def test_answers_that_nobody_reads_from_many_addresses(up: Up) -> None:
    await waited(up.port)
    with contextlib.ExitStack() as stack:
        for last in range(100, 110):
            stack.enter_context(leaning(up.port, 64, STYLES, f"127.0.0.{last}", buffer=2_048))
        await asyncio.sleep(3)
        await holds(up)
        assert up.server.num_fds() < FILES - 128


async def test_a_burst_of_requests_from_many_addresses(up: Up) -> None:
    """Every connection is busy with a request, and has 19 more to go."""
    await waited(up.port)
    with contextlib.ExitStack() as stack:
        held = [
            sock
            for last in range(100, 110)
            for sock in stack.enter_context(leaning(up.port, 64, b"", f"127.0.0.{last}"))
        ]
        for _ in range(3):
            for sock in held:
                with contextlib.suppress(OSError):  # those for whom there was no room
                    sock.send(PIPELINED)
            await holds(up)


@pytest.mark.parametrize(
    "body", [FIELDS * 33, pytest.param(FILE + b"x" * 15_900_000, marks=pytest.mark.wide)]
)
async def test_stalled_logins(up: Up, body: bytes) -> None:
    """Each sends as much as it is let, and then nothing."""
    await waited(up.port)
    with leaning(up.port, 60, LOGIN) as held:
        sent = [0] * len(held)
        for sock in held:
            sock.setblocking(False)
        for _ in range(400):
            for number, sock in enumerate(held):
                with contextlib.suppress(OSError):
                    sent[number] += sock.send(body[sent[number] : sent[number] + 65_536])
            await asyncio.sleep(0.002)
        await holds(up)


@pytest.mark.wide
async def test_slow_heads_are_ended(up: Up) -> None:
    """A byte every half second for longer than a head may take."""
    with leaning(up.port, 50, b"GET /login HTTP/1.1\r\n") as held:
        ended = 0
        for _ in range(40):
            await asyncio.sleep(0.5)
            ended = sum(_is_ended(sock) for sock in held)
        assert ended == 50
        await holds(up)


def _is_ended(sock: socket.socket) -> bool:
    try:
        sock.send(b"X")
        sock.setblocking(False)
        return sock.recv(100) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
