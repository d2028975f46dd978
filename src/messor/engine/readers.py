"""Readers: processes that read archived pages for their content, so that the loop need not.

Each reads one page at a time and may die or stall over it: only that page is blamed, and the next
one gets a new process. What comes of a page is left to whoever asked. They also show a page's text
to be put to a model, and hold a model's answer against the page.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import resource
import sys
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from messor.archive.reading import read_body
from messor.errors import MessorError
from messor.extract.ai.shown import PageOnHand, Proof, ShownText
from messor.extract.found import FoundPage, found_page
from messor.extract.image_rows import FoundImage
from messor.extract.parsers import Parsers
from messor.extract.parsers.builtin import ProductParser
from messor.extract.products.ranking import Ranking
from messor.extract.reading import installed_parsers, read_records
from messor.extract.view import PageView
from messor.kit.memory import keep_freed_memory
from messor.web.encodings import decode
from messor.web.image_headers import image_header

SECONDS = 20.0  # for one page
MEMORY = 2 * 1024 * 1024 * 1024  # of addresses, not of pages in use


class UnreadableError(MessorError):
    """A page that its reader could not read, or that ended it."""

    code = "unreadable"
    retryable = True


class Show(msgspec.Struct, frozen=True):
    """What a model may be shown is wanted: so many pieces of so many characters."""

    size: int
    most: int


class Prove(msgspec.Struct, frozen=True):
    """A model's answer is to be held against the page."""

    version: str
    answer: dict[str, Any]


class Recall(msgspec.Struct, frozen=True):
    """Which of these records, each as its literal quotes, does the page still hold?"""

    quotes: list[list[str]]


class Order(msgspec.Struct, frozen=True):
    """A page to be read: where its bytes lie, and how it is to be read."""

    folder: str
    segment: str
    offset: int
    length: int
    content_type: str | None
    url: str
    status: int
    pins: dict[str, str] = {}
    ranking: bytes | None = None  # a learnt order of values, as JSON
    generic: bool = False
    show: Show | None = None
    prove: Prove | None = None
    recall: Recall | None = None
    is_image: bool = False


class Answer(msgspec.Struct, frozen=True):
    """What was made of a page, or why nothing could be."""

    page: FoundPage | None = None
    shown: ShownText | None = None
    proof: Proof | None = None
    recalled: list[bool] | None = None
    image: FoundImage | None = None
    fault: str | None = None


class _Child:
    """One reading process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, memory: int) -> _Child:
        return cls(
            await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "messor.engine.readers",
                str(memory),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    async def ask(self, order: bytes) -> Answer:
        writer, reader = self._process.stdin, self._process.stdout
        assert writer is not None
        assert reader is not None
        writer.write(len(order).to_bytes(4, "big") + order)
        await writer.drain()
        length = int.from_bytes(await reader.readexactly(4), "big")
        return msgspec.msgpack.decode(await reader.readexactly(length), type=Answer)

    async def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()


class Readers:
    """As many reading processes as there are cores, started when they are needed."""

    def __init__(
        self, count: int | None = None, *, seconds: float = SECONDS, memory: int = MEMORY
    ) -> None:
        installed_parsers()  # one that cannot be loaded is told here, not by each process's end
        self.count = count or len(os.sched_getaffinity(0))
        self._seconds = seconds
        self._memory = memory
        self._idle: asyncio.Queue[_Child | None] = asyncio.Queue()
        for _ in range(self.count):
            self._idle.put_nowait(None)
        self._busy: set[_Child] = set()

    @property
    def pids(self) -> list[int]:
        """Of the processes that are reading just now."""
        return [child.pid for child in self._busy]

    async def read(self, order: Order) -> FoundPage:
        """What is made of a page; UnreadableError says why nothing could be."""
        answer = await self.answer(order)
        assert answer.page is not None
        return answer.page

    async def answer(self, order: Order) -> Answer:
        """What an order asks for; UnreadableError says why it cannot be had."""
        child = await self._idle.get()
        kept: _Child | None = None
        try:
            child = child or await _Child.start(self._memory)
            self._busy.add(child)
            async with asyncio.timeout(self._seconds):
                answer = await child.ask(msgspec.msgpack.encode(order))
            kept = child
        except TimeoutError:
            raise UnreadableError(f"Reading the page takes over {self._seconds:g} s.") from None
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise UnreadableError("Reading the page ended its process.") from error
        finally:
            if child is not None:
                self._busy.discard(child)
                if kept is None:
                    await child.end()
            self._idle.put_nowait(kept)
        if answer.fault is not None:
            raise UnreadableError(answer.fault)
        return answer

    async def close(self) -> None:
        """End all processes; nothing may be under way."""
        for _ in range(self.count):
            child = await self._idle.get()
            if child is not None:
                await child.end()


def read(order: Order, parsers: Parsers | None = None) -> Answer:
    """Read one archived page, in this process."""
    try:
        body = read_body(Path(order.folder), order.segment, order.offset, order.length)
        if order.is_image:
            return _image(body)
        text, _ = decode(body, order.content_type)
        if order.recall is not None:
            held = [all(quote in text for quote in quotes) for quotes in order.recall.quotes]
            return Answer(recalled=held)
        if order.show is not None or order.prove is not None:
            return _asked(order, PageOnHand(PageView.of(text, order.url)))
        extraction = read_records(
            text,
            order.url,
            status=order.status,
            generic=order.generic,
            pins=order.pins,
            parsers=parsers if order.ranking is None else _ranked(order.ranking),
        )
    except MessorError as error:
        return Answer(fault=str(error))
    return Answer(page=found_page(extraction))


@lru_cache(maxsize=2)
def _ranked(ranking: bytes) -> Parsers:
    """The parsers at hand, with products chosen by what was learnt."""
    parsers = Parsers(installed_parsers())
    parsers.add(ProductParser(Ranking.of(msgspec.json.decode(ranking))))
    return parsers


def _image(body: bytes) -> Answer:
    header = image_header(body)
    if header is None:
        return Answer(fault="The bytes are not a picture we know.")
    digest = sha256(body).digest()
    found = FoundImage(header.media_type, header.width, header.height, len(body), digest)
    return Answer(image=found)


def _asked(order: Order, page: PageOnHand) -> Answer:
    """What concerns a model."""
    if order.show is not None:
        return Answer(shown=page.show_now(order.show.size, order.show.most))
    assert order.prove is not None
    return Answer(proof=page.prove_now(order.prove.version, order.prove.answer))


def main() -> None:
    """Read orders from standard input until it ends, and answer each."""
    memory = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    keep_freed_memory()
    parsers = installed_parsers()
    gc.freeze()
    gc.set_threshold(50_000, 50, 50)
    source, target = sys.stdin.buffer, sys.stdout.buffer
    while len(head := source.read(4)) == 4:
        order = msgspec.msgpack.decode(source.read(int.from_bytes(head, "big")), type=Order)
        answer = msgspec.msgpack.encode(read(order, parsers))
        target.write(len(answer).to_bytes(4, "big") + answer)
        target.flush()


if __name__ == "__main__":
    main()
