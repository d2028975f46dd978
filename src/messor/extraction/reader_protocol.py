"""The protocol between the extractor and its reader processes: framed requests and answers.

A request names a page by its archive location, so that bodies are not sent; an answer is what is
stored. Answers are batched; a process reports its progress in shared memory. `reader_handle` and
`reader_pool` handle scheduling and failures.
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

HEAD = 4  # bytes of the length prefix


class UnreadableError(MessorError):
    """A page that its reader could not read, or that ended it."""

    code = "unreadable"
    retryable = True


class GetInput(msgspec.Struct, frozen=True):
    """Request the model input: at most `max_chunks` chunks of `size` characters."""

    size: int
    max_chunks: int


class Prove(msgspec.Struct, frozen=True):
    """Request the proof of a model's answer."""

    version: str
    answer: dict[str, Any]


class Recall(msgspec.Struct, frozen=True):
    """Request which of these records, given as literal quotes, are still on the page."""

    quotes: list[list[str]]


class ReadRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """A page to read: its archive location, and how to read it."""

    folder: str
    segment: str
    offset: int
    length: int
    content_type: str | None
    url: str
    status: int
    pins: dict[str, str] = {}
    ranking: bytes | None = None  # a learned ranking, as JSON
    kinds: frozenset[str] | None = None  # record kinds to read; None: all
    generic: bool = False
    get_input: GetInput | None = None
    prove: Prove | None = None
    recall: Recall | None = None
    reread: bool = False  # only the content hashes are requested
    is_image: bool = False
    stored: bytes | None = None  # the record itself, where it is in an object store


class ContentHashes(msgspec.Struct, frozen=True):
    """Possible content hashes of a snapshot's bytes."""

    text: bytes | None  # of their text, if any
    as_it_is: list[bytes]  # of the unread page, or its beginning


class ReadResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The results of a page, or the reason for having none."""

    page: FoundPage | None = None
    model_input: ModelInput | None = None
    proof: ProvenAnswer | None = None
    recalled: list[bool] | None = None
    content_hashes: ContentHashes | None = None
    image: FoundImage | None = None
    fault: str | None = None


_encode = msgspec.msgpack.Encoder().encode
decode_request = msgspec.msgpack.Decoder(ReadRequest).decode
decode_answer = msgspec.msgpack.Decoder(ReadResult).decode


def framed(message: ReadRequest | ReadResult) -> bytes:
    """Return a message in wire format."""
    frame = _encode(message)
    return len(frame).to_bytes(HEAD, "big") + frame


class ReaderProgress:
    """The last request a process has started, and when, in shared memory.

    It identifies the page a process died of or stalls on, even if earlier answers have not arrived.
    """

    SIZE = 16
    _COUNT = struct.Struct("<q")
    _TIME = struct.Struct("<d")
    _TIME_AT = 8

    def __init__(self, file: int) -> None:
        self._map = mmap.mmap(file, self.SIZE)

    @property
    def begun(self) -> int:
        """Number of requests started."""
        count: int = self._COUNT.unpack_from(self._map)[0]
        return count

    @property
    def begun_at(self) -> float:
        """When the last one was started, by the system-wide clock."""
        seconds: float = self._TIME.unpack_from(self._map, self._TIME_AT)[0]
        return seconds

    def begin(self, now: float) -> None:
        """Start the next one. The time is written first: a reader of the new count never sees an
        older time.
        """
        self._TIME.pack_into(self._map, self._TIME_AT, now)
        self._COUNT.pack_into(self._map, 0, self.begun + 1)
