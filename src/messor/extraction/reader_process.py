"""A reader process: receives requests on standard input, reads the pages, and answers each.

It may die or stall on a page; `reader_pool` handles that. It also prepares a page's text for a
model and proves a model's answer against the page. It runs in the sandbox: it may read only the
archive named in its requests, and what Python loads.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from hashlib import sha256
from io import BufferedWriter
from pathlib import Path

import msgspec

from messor.ai.model_page import LocalModelPage
from messor.archive.hashes import MAX_JUDGED, content_hash
from messor.archive.segments import OpenSegment
from messor.archive.snapshot_content import read_body
from messor.content.memory import Memory
from messor.content.products.ranking import Ranking
from messor.content.view import PageView
from messor.core import sandbox
from messor.core.memory import collect_rarely, keep_freed_memory
from messor.errors import MessorError
from messor.extraction.reader_protocol import (
    HEAD,
    ContentHashes,
    ReaderProgress,
    ReadRequest,
    ReadResult,
    decode_request,
    framed,
)
from messor.parsers import Parsers
from messor.parsers.builtin import ProductParser
from messor.parsers.page_findings import found_page
from messor.parsers.page_reading import installed_parsers, read_records
from messor.parsers.page_text import text_of
from messor.records.image_rows import FoundImage
from messor.web.encodings import decode
from messor.web.html import read_page
from messor.web.image_headers import image_header

# Answers are sent when there are this many, of this many bytes, or after this long.
BUNCH = 8
BUNCH_BYTES = 500_000
BUNCH_SECONDS = 0.2

_segment = OpenSegment()  # shared by consecutive requests


def read(
    request: ReadRequest, parsers: Parsers | None = None, memory: Memory | None = None
) -> ReadResult:
    """Read one archived page in this process, which may die of it.

    Archived pages were parsed before, with a depth check or in a sandbox.
    """
    try:
        body = _body(request)
        if request.is_image:
            return _image(body)
        text = text_of(body, request.content_type, is_confined=True)
        if request.recall is not None:
            held = [all(quote in text for quote in quotes) for quotes in request.recall.quotes]
            return ReadResult(recalled=held)
        if request.reread:
            return ReadResult(content_hashes=_content_hashes(body, text, request))
        if request.get_input is not None or request.prove is not None:
            return _model_answer(
                request, LocalModelPage(PageView.of(text, request.url, may_die=True))
            )
        extraction = read_records(
            text,
            request.url,
            status=request.status,
            generic=request.generic,
            pins=request.pins,
            parsers=parsers if request.ranking is None else _ranked(request.ranking),
            kinds=request.kinds,
            may_die=True,
            memory=memory,
        )
    except MessorError as error:
        return ReadResult(fault=str(error))
    return ReadResult(page=found_page(extraction, request.kinds))


def _body(request: ReadRequest) -> bytes:
    place = request.segment, request.offset, request.length
    stored = request.stored
    if stored is not None:
        return read_body(request.folder, *place, read=lambda *_: stored)
    return read_body(request.folder, *place, read=_segment.read)


@lru_cache(maxsize=2)
def _ranked(ranking: bytes) -> Parsers:
    """Return the installed parsers, with the learned ranking of products."""
    parsers = Parsers(installed_parsers())
    parsers.add(ProductParser(Ranking.of(msgspec.json.decode(ranking))))
    return parsers


def _content_hashes(body: bytes, text: str, request: ReadRequest) -> ContentHashes:
    """Return the possible content hashes of these bytes: the crawler hashes the raw beginning of a
    refusal.
    """
    markdown = read_page(text, request.url, bounded=False).markdown
    beginning, _ = decode(body[:MAX_JUDGED], request.content_type)
    return ContentHashes(
        text=content_hash(markdown, None, text) if markdown else None,
        as_it_is=[content_hash(None, None, text), content_hash(None, None, beginning)],
    )


def _image(body: bytes) -> ReadResult:
    header = image_header(body)
    if header is None:
        return ReadResult(fault="The file is not a supported image.")
    digest = sha256(body).digest()
    found = FoundImage(header.media_type, header.width, header.height, len(body), digest)
    return ReadResult(image=found)


def _model_answer(request: ReadRequest, page: LocalModelPage) -> ReadResult:
    """Answer a model request."""
    if request.get_input is not None:
        return ReadResult(
            model_input=page.input_now(request.get_input.size, request.get_input.max_chunks)
        )
    assert request.prove is not None
    return ReadResult(proof=page.prove_now(request.prove.version, request.prove.answer))


class _Answers:
    """Outgoing answers, sent in batches: each send wakes the receiver."""

    def __init__(self, target: BufferedWriter) -> None:
        self._target = target
        self._waiting: list[bytes] = []
        self._size = 0
        self._sent_at = 0.0

    def add(self, answer: bytes) -> None:
        self._waiting.append(answer)
        self._size += len(answer)
        is_late = time.monotonic() - self._sent_at > BUNCH_SECONDS
        if is_late or len(self._waiting) >= BUNCH or self._size >= BUNCH_BYTES:
            self.send()

    def send(self) -> None:
        if self._waiting:
            try:
                self._target.write(b"".join(self._waiting))
                self._target.flush()
            except BrokenPipeError:
                os._exit(0)  # the parent was killed: nobody to report to
            self._waiting.clear()
            self._size = 0
            self._sent_at = time.monotonic()


def _requests(source: int, before_waiting: Callable[[], None]) -> Iterator[ReadRequest]:
    """Yield requests as they arrive."""
    received = bytearray()
    while True:
        while len(received) >= HEAD:
            end = HEAD + int.from_bytes(received[:HEAD], "big")
            if len(received) < end:
                break
            request = decode_request(bytes(received[HEAD:end]))
            del received[:end]
            yield request
        before_waiting()
        data = os.read(source, 65_536)
        if not data:
            return
        received += data


def main() -> None:
    """Answer requests in order until the input ends."""
    # Ctrl-C and service stops reach whole process groups; the parent decides when to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    limit, shared = map(int, sys.argv[1:3])
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sandbox.die_with_parent()
    sandbox.leave_network()
    keep_freed_memory()
    progress = ReaderProgress(shared)
    answers = _Answers(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # parser output must not mix with answers
    parsers, memory = installed_parsers(), Memory()
    collect_rarely()

    def before_waiting() -> None:
        answers.send()
        _segment.close()

    archive = ""
    for request in _requests(0, before_waiting):
        if not archive:
            if not Path(request.folder).is_dir():  # created later, it could not be opened any more
                answers.add(framed(ReadResult(fault=f"There is no folder {request.folder}.")))
                continue
            archive = request.folder
            sandbox.enter(readable=[*sandbox.python_folders(), archive])
        elif request.folder != archive:
            answers.send()
            return  # another process takes the rest: this one cannot open it
        progress.begin(time.monotonic())
        answers.add(framed(read(request, parsers, memory)))


if __name__ == "__main__":
    main()
