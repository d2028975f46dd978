"""Decodes a sitemap's bytes as they arrive: gzip is decompressed and UTF-16 becomes UTF-8.

Only the current chunk is held, so a decompression bomb costs no more memory than any other
document; the total is limited by the reader.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Callable, Iterator

from messor.web import encodings

HEAD = 4096  # bytes that determine the encoding and kind of a document

_GZIP = b"\x1f\x8b"
_MAX_GZIP_LAYERS = 2
_PIECE = 64 * 1024

Warn = Callable[[str], None]


class Gunzip:
    """Decompresses gzip if present, up to two layers, as far as it is intact."""

    def __init__(self, warn: Warn, layers: int = _MAX_GZIP_LAYERS) -> None:
        self._warn = warn
        self._inner = Gunzip(warn, layers - 1) if layers else None
        self._head = b""
        self._is_plain = not layers
        self._inflater = zlib.decompressobj(wbits=31)
        self._is_damaged = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The decompressed chunks."""
        if self._inner is None or self._is_plain:
            yield data
        elif self._head == _GZIP:
            yield from self._inflated(data, self._inner)
        else:
            data = self._head + data
            self._head = data[:2]
            if self._head == _GZIP:
                yield from self._inflated(data, self._inner)
            elif len(data) >= 2:
                self._is_plain = True
                yield data

    def close(self) -> Iterator[bytes]:
        """The remaining data at the end."""
        if self._inner is None or self._is_plain:
            return
        if self._head != _GZIP:
            yield self._head
            return
        yield from self._inflated(b"", self._inner)
        yield from self._inner.close()
        if not self._inflater.eof and not self._is_damaged:
            self._warn("gzip data is truncated")

    def _inflated(self, data: bytes, inner: Gunzip) -> Iterator[bytes]:
        piece = b"-"
        while not self._is_damaged and not self._inflater.eof and (data or piece):
            try:
                piece = self._inflater.decompress(data, _PIECE)
            except zlib.error:
                self._warn("gzip data is damaged")
                self._is_damaged = True
                return
            data = self._inflater.unconsumed_tail
            yield from inner.feed(piece)


class ToUtf8:
    """UTF-16 becomes UTF-8; other encodings agree with it for the characters of URLs."""

    def __init__(self, head: bytes, content_type: str | None) -> None:
        encoding = encodings.sniff(head, content_type if head[:2] else None)
        self._decoder = (
            codecs.getincrementaldecoder(encoding)("replace")
            if encoding.startswith("utf-16")
            else None
        )

    def feed(self, data: bytes) -> bytes:
        if self._decoder is None:
            return data
        return self._decoder.decode(data).encode("utf-8", "replace")
