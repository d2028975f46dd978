"""Records of our segments taken apart again: what they are of, what they hold, what they refer to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from isal import isal_zlib

from messor.archive.segments import read_record
from messor.archive.snapshot_content import MAX_BYTES, unpack
from messor.archive.warc import Original, payload_digest
from messor.errors import MessorError, NotFoundError, UnavailableError

_BLANK_LINE = b"\r\n\r\n"


class DamagedRecordError(MessorError):
    """A record that is not what was written."""

    code = "archive_damaged"


@dataclass(frozen=True, slots=True)
class ArchiveRecord:
    """A response or revisit record."""

    kind: str
    url: str
    date: str
    digest: bytes
    refers_to: tuple[str, str] | None  # address and date of the original
    http: bytes  # the answer's head, with the blank line after it
    payload: bytes  # as stored, empty in a revisit record

    @property
    def original(self) -> Original:
        return Original(self.url, self.date, self.digest)

    @property
    def is_packed(self) -> bool:
        """Whether the payload is as it came, in its content encoding."""
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


def load(folder: Path, name: str, offset: int, length: int) -> ArchiveRecord:
    """Read a record. Blocks: call it off the loop.

    FileNotFoundError: its segment does not lie here. NotFoundError: its bytes were erased.
    """
    packed = read_record(folder, name, offset, length)
    if len(packed) < length:
        raise DamagedRecordError("the segment ends before the record does")
    try:
        return parse(_member(packed))
    except (UnavailableError, ValueError, KeyError) as error:
        raise DamagedRecordError("the record cannot be read") from error


def _member(packed: bytes) -> bytes:
    """A record unpacked; ValueError unless it is exactly one whole gzip member."""
    unpacker = isal_zlib.decompressobj(wbits=31)
    try:
        data: bytes = unpacker.decompress(packed, MAX_BYTES)
    except isal_zlib.error as error:  # type: ignore[misc]
        raise ValueError(str(error)) from error
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("not one whole member")
    return data


def parse(data: bytes) -> ArchiveRecord:
    """A record as it lies in its gzip member; ValueError or KeyError when it is none."""
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
