"""What is said between a session and its reading processes: orders out, answers back, in frames.

An order names a page by where its bytes lie, so that bodies never cross; an answer is what is stored.
Answers come several at a time; how far a process is stands in memory that both share. Who reads, and
what happens to one who does not answer, is left to `reader` and `readers`.
"""

from __future__ import annotations

import mmap
import struct
from typing import Any

import msgspec

from messor.ai.model_page import ModelInput, ProvenAnswer
from messor.errors import MessorError
from messor.parsers.page_findings import FoundPage
from messor.records.image_rows import FoundImage

HEAD = 4  # bytes that tell the length of what follows


class UnreadableError(MessorError):
    """A page that its reader could not read, or that ended it."""

    code = "unreadable"
    retryable = True


class GetInput(msgspec.Struct, frozen=True):
    """What a model may be shown is wanted: so many pieces of so many characters."""

    size: int
    max_chunks: int


class Prove(msgspec.Struct, frozen=True):
    """A model's answer is to be held against the page."""

    version: str
    answer: dict[str, Any]


class Recall(msgspec.Struct, frozen=True):
    """Which of these records, each as its literal quotes, does the page still hold?"""

    quotes: list[list[str]]


class ReadRequest(msgspec.Struct, frozen=True, omit_defaults=True):
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
    kinds: frozenset[str] | None = None  # of records that are read; None: all
    generic: bool = False
    get_input: GetInput | None = None
    prove: Prove | None = None
    recall: Recall | None = None
    reread: bool = False  # only what its text hashes to is wanted
    is_image: bool = False


class ContentHashes(msgspec.Struct, frozen=True):
    """Of which a snapshot of the bytes has one."""

    said: bytes | None  # of their text, where they say any
    as_it_is: list[bytes]  # where nothing was read of them: of the page, or its beginning


class ReadResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was made of a page, or why nothing could be."""

    page: FoundPage | None = None
    model_input: ModelInput | None = None
    proof: ProvenAnswer | None = None
    recalled: list[bool] | None = None
    content_hashes: ContentHashes | None = None
    image: FoundImage | None = None
    fault: str | None = None


_encode = msgspec.msgpack.Encoder().encode
decode_order = msgspec.msgpack.Decoder(ReadRequest).decode
decode_answer = msgspec.msgpack.Decoder(ReadResult).decode


def framed(message: ReadRequest | ReadResult) -> bytes:
    """A message as it is sent."""
    said = _encode(message)
    return len(said).to_bytes(HEAD, "big") + said


class ReaderProgress:
    """Which of its orders a process has begun last, and when, in memory that it shares.

    It tells what a process died of, or stalls over, though answers before that may not have come.
    """

    SIZE = 16
    _COUNT = struct.Struct("<q")
    _TIME = struct.Struct("<d")
    _TIME_AT = 8

    def __init__(self, file: int) -> None:
        self._map = mmap.mmap(file, self.SIZE)

    @property
    def begun(self) -> int:
        """How many orders were begun."""
        count: int = self._COUNT.unpack_from(self._map)[0]
        return count

    @property
    def begun_at(self) -> float:
        """When the last of them was, by the clock that all processes share."""
        seconds: float = self._TIME.unpack_from(self._map, self._TIME_AT)[0]
        return seconds

    def begin(self, now: float) -> None:
        """Begin the next one. The time goes first: whoever sees the new count sees no older time."""
        self._TIME.pack_into(self._map, self._TIME_AT, now)
        self._COUNT.pack_into(self._map, 0, self.begun + 1)
