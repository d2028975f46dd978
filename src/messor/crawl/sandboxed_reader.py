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

from messor.content.documents.convert import to_html
from messor.content.documents.errors import DocumentError
from messor.core import sandbox
from messor.web.document_formats import DocumentFormat
from messor.web.html import PageReading, TooComplexError, read_page

SECONDS = 5
MEMORY = 512 * 1024 * 1024
_AT_ONCE = 2
_HEAD = 5  # size of what follows, and whether parsing succeeded
_MAX_ANSWER = 256 * 1024 * 1024
_START_SECONDS = 60  # the machine may be busy

DOCUMENT_SECONDS = 20
_DOCUMENT_FILES = 32  # that a converter may have open


class _Order(msgspec.Struct):
    """What to read: HTML, or a document of some format."""

    url: str
    agent: str
    seconds: int  # of CPU time
    html: str = ""
    body: bytes = b""
    kind: DocumentFormat | None = None
    content_type: str | None = None


class SandboxedPage(msgspec.Struct):
    """What a reader found: the page, with the HTML that a document was converted to, or why not."""

    reading: PageReading | None = None
    html: str = ""
    error: str | None = None


class SandboxedReader:
    """Parses pages in disposable processes."""

    def __init__(
        self,
        *,
        agent: str,
        seconds: int = SECONDS,
        document_seconds: int = DOCUMENT_SECONDS,
        memory: int = MEMORY,
    ) -> None:
        self._agent = agent
        self._seconds = seconds
        self._document_seconds = document_seconds
        self._memory = memory
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._idle: list[asyncio.subprocess.Process] = []

    async def read(self, html: str, url: str) -> PageReading:
        """Parse a page; raises TooComplexError if its process exceeds a limit or crashes."""
        page = await self._read(_Order(url, self._agent, self._seconds, html))
        assert page.reading is not None, "pages have no other errors"
        return page.reading

    async def read_document(
        self, body: bytes, kind: DocumentFormat, content_type: str | None, url: str
    ) -> tuple[str, PageReading]:
        """Convert a document to HTML and parse that; raises DocumentError if it cannot be read."""
        page = await self._read(
            _Order(url, self._agent, self._document_seconds, "", body, kind, content_type)
        )
        if page.reading is None:
            raise DocumentError(page.error or "The document cannot be read.")
        return page.html, page.reading

    async def _read(self, order: _Order) -> SandboxedPage:
        packed, seconds = msgspec.msgpack.encode(order), order.seconds
        limits = f"{self._memory // 1_000_000} MB or {seconds} s"
        crash = f"Parsing the page needs more than {limits}, or crashed."
        async with self._room:
            keeper = self._idle.pop() if self._idle else await self._start()
            try:
                async with asyncio.timeout(2 * seconds):
                    answer = await _submit(keeper, packed)
            except TimeoutError:
                raise TooComplexError(f"Parsing the page takes more than {seconds} s.") from None
            except (OSError, EOFError):
                raise TooComplexError(crash) from None
            else:
                self._idle.append(keeper)
            finally:
                if keeper not in self._idle:
                    await _kill(keeper)
        if answer is None:
            raise TooComplexError(crash)
        try:
            return msgspec.msgpack.decode(answer, type=SandboxedPage)
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
    memory = int(sys.argv[1])
    sandbox.die_with_parent()
    sandbox.leave_network()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    page = "<title>all that is needed is loaded</title>"
    read_page(to_html(DocumentFormat.TEXT, page.encode()), "http://a.example/")
    source, target = sys.stdin.buffer, sys.stdout.buffer
    _send(target, b"", is_read=True)
    while head := source.read(_HEAD):
        order = source.read(int.from_bytes(head, "big"))
        _send(target, *_parse_in_child(order, memory))


def _send(target: BinaryIO, answer: bytes, is_read: bool) -> None:
    target.write(len(answer).to_bytes(_HEAD - 1, "big") + bytes([is_read]) + answer)
    target.flush()


def _parse_in_child(order: bytes, memory: int) -> tuple[bytes, bool]:
    """Process an order in a fresh process; return its output and whether it exited cleanly."""
    source, target = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        _parse_confined(order, target, memory)
    os.close(target)
    with os.fdopen(source, "rb") as pipe:
        answer = pipe.read(_MAX_ANSWER)
    _, status = os.waitpid(child, 0)
    return (answer, True) if status == 0 else (b"", False)


def _parse_confined(order: bytes, target: int, memory: int) -> None:
    """In the fresh process: drop privileges and set limits, then parse the page."""
    status = 1
    try:
        sandbox.die_with_parent()
        os.close(0)
        os.close(1)
        wanted = msgspec.msgpack.decode(order, type=_Order)
        resource.setrlimit(resource.RLIMIT_CPU, (wanted.seconds, wanted.seconds))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        # Converters load codecs and modules as they need them: Python's own files stay readable.
        readable = sandbox.python_folders() if wanted.kind is not None else []
        files = target + (_DOCUMENT_FILES if readable else 1)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        sandbox.enter(readable=readable)
        answer = msgspec.msgpack.encode(_page(wanted))
        with os.fdopen(target, "wb") as pipe:
            pipe.write(answer)
        status = 0
    finally:
        os._exit(status)  # in any case: this process must not continue as the keeper


def _page(wanted: _Order) -> SandboxedPage:
    html = wanted.html
    if wanted.kind is not None:
        try:
            html = to_html(wanted.kind, wanted.body, wanted.content_type)
        except DocumentError as error:
            return SandboxedPage(error=str(error))
    reading = read_page(html, wanted.url, agent=wanted.agent, bounded=False)
    return SandboxedPage(reading, html if wanted.kind is not None else "")


if __name__ == "__main__":
    main()
