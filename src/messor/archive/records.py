"""Parses records of our segments: their URL, payload and references."""

from __future__ import annotations

from dataclasses import dataclass

from isal import isal_zlib

from messor.archive.segments import read_record
from messor.archive.snapshot_content import MAX_BYTES, unpack
from messor.archive.storage import ArchiveSource
from messor.archive.warc import Original, payload_digest
from messor.errors import MessorError, NotFoundError, UnavailableError

_BLANK_LINE = b"\r\n\r\n"


class DamagedRecordError(MessorError):
    """A record that differs from what was written."""

    code = "archive_damaged"


@dataclass(frozen=True, slots=True)
class ArchiveRecord:
    """A response or revisit record."""

    kind: str
    url: str
    date: str
    digest: bytes
    refers_to: tuple[str, str] | None  # URL and date of the original
    http: bytes  # the response's head, with the blank line after it
    payload: bytes  # as stored, empty in a revisit record

    @property
    def original(self) -> Original:
        return Original(self.url, self.date, self.digest)

    @property
    def is_packed(self) -> bool:
        """Whether the payload is stored in its content encoding."""
        encoded = b"\r\ncontent-encoding:" in self.http.lower()
        return encoded and self.payload.startswith(b"\x1f\x8b")

    @property
    def body(self) -> bytes:
        """The payload without its content encoding."""
        return unpack(self.payload) if self.is_packed else self.payload

    @property
    def is_intact(self) -> bool:
        """Whether the payload is the one that was written."""
        return payload_digest(self.payload) == self.digest


def load(source: ArchiveSource, name: str, offset: int, length: int) -> ArchiveRecord:
    """Read a record. Blocks: call it off the event loop.

    FileNotFoundError: its segment is not on this machine. NotFoundError: its bytes were erased.
    """
    packed = read_record(source, name, offset, length)
    if len(packed) < length:
        raise DamagedRecordError("the segment ends before the record does")
    try:
        return parse(_member(packed))
    except (UnavailableError, ValueError, KeyError) as error:
        raise DamagedRecordError("the record cannot be read") from error


def _member(packed: bytes) -> bytes:
    """Decompress a record; ValueError unless it is exactly one whole gzip member."""
    unpacker = isal_zlib.decompressobj(wbits=31)
    try:
        data: bytes = unpacker.decompress(packed, MAX_BYTES)
    except isal_zlib.error as error:  # type: ignore[misc]
        raise ValueError(str(error)) from error
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("not one whole member")
    return data


def parse(data: bytes) -> ArchiveRecord:
    """Parse the content of a gzip member; ValueError or KeyError when it is not a record."""
    end = data.index(_BLANK_LINE)
    lines = data[:end].decode().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines[1:])
    kind = fields["WARC-Type"]
    if kind not in ("response", "revisit"):
        raise NotFoundError("The bytes of this snapshot were erased.")
    start = end + len(_BLANK_LINE)
    block = data[start : start + int(fields["Content-Length"])]
    head_end = block.index(_BLANK_LINE) + len(_BLANK_LINE)
    refers_to = None
    if kind == "revisit":
        refers_to = fields["WARC-Refers-To-Target-URI"], fields["WARC-Refers-To-Date"]
    return ArchiveRecord(
        kind,
        fields["WARC-Target-URI"],
        fields["WARC-Date"],
        bytes.fromhex(fields["WARC-Payload-Digest"].removeprefix("sha1:")),
        refers_to,
        block[:head_end],
        block[head_end:],
    )
