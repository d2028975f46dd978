"""The sandboxed reader: parses pages that may crash, stall or exploit their parser.

Used for pages of blamed domains, and for those too large or too deeply nested to parse in the
worker. A keeper process, which holds no data and parses nothing, forks a fresh reader per page: it
sees one page, is confined to the sandbox, and has limits of time and memory. A page that exceeds
them is reported as too complex, with no other effect.
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
_HEAD = 5  # size of what follows, and whether parsing succeeded
_MAX_ANSWER = 256 * 1024 * 1024
_START_SECONDS = 60  # the machine may be busy

Order = tuple[str, str, str]  # html, url, agent


class SandboxedReader:
    """Parses pages in disposable processes."""

    def __init__(self, *, agent: str, seconds: int = SECONDS, memory: int = MEMORY) -> None:
        self._agent = agent
        self._seconds = seconds
        self._memory = memory
        self._crash = (
            f"Parsing the page needs more than {memory // 1_000_000} MB or {seconds} s, or crashed."
        )
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._idle: list[asyncio.subprocess.Process] = []

    async def read(self, html: str, url: str) -> PageReading:
        """Parse a page; raises TooComplexError if its process exceeds a limit or crashes."""
        order = msgspec.msgpack.encode((html, url, self._agent))
        async with self._room:
            keeper = self._idle.pop() if self._idle else await self._start()
            try:
                async with asyncio.timeout(2 * self._seconds):
                    answer = await _submit(keeper, order)
            except TimeoutError:
                raise TooComplexError(
                    f"Parsing the page takes more than {self._seconds} s."
                ) from None
            except (OSError, EOFError):
                raise TooComplexError(self._crash) from None
            else:
                self._idle.append(keeper)
            finally:
                if keeper not in self._idle:
                    await _kill(keeper)
        if answer is None:
            raise TooComplexError(self._crash)
        try:
            return msgspec.msgpack.decode(answer, type=PageReading)
        except msgspec.DecodeError:
            raise TooComplexError("Parsing the page produced invalid output.") from None

    async def close(self) -> None:
        """Stop the idle keeper processes."""
        while self._idle:
            await _kill(self._idle.pop())

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
                await _receive(keeper)  # ready
        except (TimeoutError, OSError, EOFError):
            await _kill(keeper)
            raise TooComplexError(
                "The sandbox process for this page could not be started."
            ) from None
        return keeper


async def _submit(keeper: asyncio.subprocess.Process, order: bytes) -> bytes | None:
    assert keeper.stdin is not None
    keeper.stdin.write(len(order).to_bytes(_HEAD, "big") + order)
    await keeper.stdin.drain()
    return await _receive(keeper)


async def _receive(keeper: asyncio.subprocess.Process) -> bytes | None:
    """The reader's output; None if it crashed."""
    assert keeper.stdout is not None
    head = await keeper.stdout.readexactly(_HEAD)
    size = int.from_bytes(head[:-1], "big")
    answer = await keeper.stdout.readexactly(size)
    return answer if head[-1] else None


async def _kill(keeper: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        keeper.kill()
    await keeper.wait()


def main() -> None:
    """Serve pages one after another until standard input closes."""
    seconds, memory = int(sys.argv[1]), int(sys.argv[2])
    sandbox.die_with_parent()
    sandbox.leave_network()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    read_page("<title>all that is needed is loaded</title>", "http://a.example/")
    source, target = sys.stdin.buffer, sys.stdout.buffer
    _send(target, b"", is_read=True)
    while head := source.read(_HEAD):
        order = source.read(int.from_bytes(head, "big"))
        _send(target, *_parse_in_child(order, seconds, memory))


def _send(target: BinaryIO, answer: bytes, is_read: bool) -> None:
    target.write(len(answer).to_bytes(_HEAD - 1, "big") + bytes([is_read]) + answer)
    target.flush()


def _parse_in_child(order: bytes, seconds: int, memory: int) -> tuple[bytes, bool]:
    """Process an order in a fresh process; return its output and whether it exited cleanly."""
    source, target = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        _parse_confined(order, target, seconds, memory)
    os.close(target)
    with os.fdopen(source, "rb") as pipe:
        answer = pipe.read(_MAX_ANSWER)
    _, status = os.waitpid(child, 0)
    return (answer, True) if status == 0 else (b"", False)


def _parse_confined(order: bytes, target: int, seconds: int, memory: int) -> None:
    """In the fresh process: drop privileges and set limits, then parse the page."""
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
        os._exit(status)  # in any case: this process must not continue as the keeper


if __name__ == "__main__":
    main()
