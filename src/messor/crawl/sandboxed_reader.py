"""The cage: processes of their own for reading pages that may end, stall or take over their reader.

Used for pages of blamed domains, and for those too large or too tangled to be read beside others.
A keeper process, which knows nothing and parses nothing, forks a fresh reader for every page: it
sees one page, is locked into the sandbox, and has bounds of time and memory. A page that breaks them
is too complex, and no more than that happened.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import sys
from typing import BinaryIO

import msgspec

from messor.core import sandbox
from messor.web.html import PageReading, TooComplexError, read_page

SECONDS = 5
MEMORY = 512 * 1024 * 1024
_AT_ONCE = 2
_HEAD = 5  # the size of what follows, and whether it was read
_MAX_ANSWER = 256 * 1024 * 1024
_START_SECONDS = 60  # a machine may be busy

Order = tuple[str, str, str]  # html, url, agent


class SandboxedReader:
    """Reads pages in processes that may die."""

    def __init__(self, *, agent: str, seconds: int = SECONDS, memory: int = MEMORY) -> None:
        self._agent = agent
        self._seconds = seconds
        self._memory = memory
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._idle: list[asyncio.subprocess.Process] = []

    async def read(self, html: str, url: str) -> PageReading:
        """The page's reading; TooComplexError when its process broke its bounds."""
        order = msgspec.msgpack.encode((html, url, self._agent))
        async with self._room:
            keeper = self._idle.pop() if self._idle else await self._start()
            try:
                async with asyncio.timeout(2 * self._seconds):
                    answer = await _ask(keeper, order)
            except TimeoutError:
                raise TooComplexError(f"Reading the page takes over {self._seconds} s.") from None
            except (OSError, EOFError):
                raise TooComplexError("Reading the page ended its process.") from None
            else:
                self._idle.append(keeper)
            finally:
                if keeper not in self._idle:
                    await _end(keeper)
        if answer is None:
            raise TooComplexError("Reading the page ended its process.")
        try:
            return msgspec.msgpack.decode(answer, type=PageReading)
        except msgspec.DecodeError:
            raise TooComplexError("Reading the page garbled its process.") from None

    async def close(self) -> None:
        """End the processes that wait for pages."""
        while self._idle:
            await _end(self._idle.pop())

    async def _start(self) -> asyncio.subprocess.Process:
        keeper = await asyncio.create_subprocess_exec(
            *(
                sys.executable,
                "-m",
                "messor.crawl.sandboxed_reader",
                str(self._seconds),
                str(self._memory),
            ),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(_START_SECONDS):
                await _answer(keeper)  # it is ready
        except (TimeoutError, OSError, EOFError):
            await _end(keeper)
            raise TooComplexError("No process could be started to read the page in.") from None
        return keeper


async def _ask(keeper: asyncio.subprocess.Process, order: bytes) -> bytes | None:
    assert keeper.stdin is not None
    keeper.stdin.write(len(order).to_bytes(_HEAD, "big") + order)
    await keeper.stdin.drain()
    return await _answer(keeper)


async def _answer(keeper: asyncio.subprocess.Process) -> bytes | None:
    """What the reader made of the page, None when it ended over it."""
    assert keeper.stdout is not None
    head = await keeper.stdout.readexactly(_HEAD)
    size = int.from_bytes(head[:-1], "big")
    answer = await keeper.stdout.readexactly(size)
    return answer if head[-1] else None


async def _end(keeper: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        keeper.kill()
    await keeper.wait()


def main() -> None:
    """Have pages read, one after another, until no more come."""
    seconds, memory = int(sys.argv[1]), int(sys.argv[2])
    sandbox.die_with_parent()
    sandbox.leave_network()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    read_page("<title>all that is needed is loaded</title>", "http://a.example/")
    source, target = sys.stdin.buffer, sys.stdout.buffer
    _send(target, b"", is_read=True)
    while head := source.read(_HEAD):
        order = source.read(int.from_bytes(head, "big"))
        _send(target, *_read_apart(order, seconds, memory))


def _send(target: BinaryIO, answer: bytes, is_read: bool) -> None:
    target.write(len(answer).to_bytes(_HEAD - 1, "big") + bytes([is_read]) + answer)
    target.flush()


def _read_apart(order: bytes, seconds: int, memory: int) -> tuple[bytes, bool]:
    """What a fresh process makes of an order, and whether it lived to its end."""
    source, target = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        _read_locked_up(order, target, seconds, memory)
    os.close(target)
    with os.fdopen(source, "rb") as pipe:
        answer = pipe.read(_MAX_ANSWER)
    _, status = os.waitpid(child, 0)
    return (answer, True) if status == 0 else (b"", False)


def _read_locked_up(order: bytes, target: int, seconds: int, memory: int) -> None:
    """In the fresh process: give up all that is not needed, then look at the page."""
    status = 1
    try:
        sandbox.die_with_parent()
        os.close(0)
        os.close(1)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_NOFILE, (target + 1, target + 1))
        sandbox.enter()
        html, url, agent = msgspec.msgpack.decode(order, type=Order)
        answer = msgspec.msgpack.encode(read_page(html, url, agent=agent, bounded=False))
        with os.fdopen(target, "wb") as pipe:
            pipe.write(answer)
        status = 0
    finally:
        os._exit(status)  # whatever happened: this process must not go on as its keeper


if __name__ == "__main__":
    main()
