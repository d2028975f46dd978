"""Texts as WARC records: markdown as a `conversion`, and structured data in a `metadata` record after it.

Both are gzip members of their own, one behind the other, so that a text has one place and any WARC
tool reads the segment as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from isal import igzip, isal_zlib

from messor.archive import warc
from messor.archive.snapshot_content import MAX_BYTES
from messor.errors import UnavailableError

_LEVEL = 1
_BLANK_LINE = b"\r\n\r\n"
_LENGTH = b"\r\nContent-Length: "
_MARKDOWN, _DATA = "text/markdown; charset=utf-8", "application/json"


class DamagedTextError(UnavailableError):
    """A text that is not what was written, or was erased."""

    code = "text_damaged"


@dataclass(frozen=True, slots=True)
class Text:
    """What was read from a page: markdown, and structured data as JSON."""

    markdown: str
    data: str | None = None

    @property
    def word_count(self) -> int:
        """As `messor.count_words` counts."""
        return len(self.markdown.encode().split())


def packed(url: str, text: Text) -> bytes:
    """The records of a text."""
    date = warc.now()
    markdown = warc.derived("conversion", url, date, _MARKDOWN, text.markdown.encode())
    if text.data is None:
        return igzip.compress(markdown, _LEVEL)
    data = warc.derived("metadata", url, date, _DATA, text.data.encode())
    return igzip.compress(markdown, _LEVEL) + igzip.compress(data, _LEVEL)


def unpacked(records: bytes) -> Text:
    """The text in its records."""
    try:
        parts = [*_blocks(records)]
    except (isal_zlib.error, ValueError, IndexError) as error:  # type: ignore[misc]
        raise DamagedTextError("The archive's record of this text is damaged.") from error
    kinds = [kind for kind, _ in parts]
    if kinds not in ([b"conversion"], [b"conversion", b"metadata"]):
        raise DamagedTextError("The archive does not hold this text any more.")
    return Text(parts[0][1].decode(), parts[1][1].decode() if len(parts) > 1 else None)


def _blocks(records: bytes) -> list[tuple[bytes, bytes]]:
    """Kind and block of each record; ValueError where one is cut off."""
    found = []
    while records:
        unpacker = isal_zlib.decompressobj(wbits=31)
        data = unpacker.decompress(records, MAX_BYTES)
        if not unpacker.eof:
            raise ValueError("not a whole record")
        end = data.index(_BLANK_LINE)
        head = data[:end]
        kind = head.split(b"WARC-Type: ", 1)[1].split(b"\r\n", 1)[0]
        length = int(head.split(_LENGTH, 1)[1].split(b"\r\n", 1)[0])
        start = end + len(_BLANK_LINE)
        found.append((kind, data[start : start + length]))
        records = unpacker.unused_data
    return found
