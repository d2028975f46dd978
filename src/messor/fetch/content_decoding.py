"""Content decoding with a hard limit: a decompression bomb stops at the cap."""

from __future__ import annotations

from typing import NamedTuple

from isal import isal_zlib

# A body is one gzip member; a few servers send several. Thousands are an attack.
MAX_MEMBERS = 32

_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 15}


class BodyTooLargeError(Exception):
    """The body, compressed or decompressed, is over the cap."""

    def __init__(self, message: str = "", received: int = 0) -> None:
        super().__init__(message)
        self.received = received  # bytes that were read before it was refused


class BadEncodingError(Exception):
    """The body does not match its Content-Encoding."""


class Decoded(NamedTuple):
    """A decoded body, and whether every WARC tool can decode it as received."""

    body: bytes
    plain_gzip: bool


def decode_content(body: bytes, encoding: str, cap: int, *, cut: bool = False) -> Decoded:
    """Undo a Content-Encoding. Past `cap` bytes: BodyTooLargeError, or truncated there when `cut`."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return Decoded(body[:cap] if cut else body, plain_gzip=False)
    bits = _WINDOW_BITS.get(encoding)
    if bits is None:
        raise BadEncodingError(f"Content-Encoding {encoding[:40]!r} was not requested")
    parts = _inflate(body, bits, cap, cut=cut)
    whole = parts[0] if len(parts) == 1 else b"".join(parts)
    return Decoded(whole, plain_gzip=encoding == "gzip" and len(parts) == 1 and not cut)


def _inflate(body: bytes, bits: int, cap: int, *, cut: bool) -> list[bytes]:
    parts: list[bytes] = []
    size = 0
    while body:
        if len(parts) == MAX_MEMBERS:
            raise BadEncodingError(f"the compressed body has more than {MAX_MEMBERS} members")
        stream = isal_zlib.decompressobj(wbits=bits)
        try:
            part = stream.decompress(body, cap - size + 1)
        except isal_zlib.error as error:  # type: ignore[misc]
            if (
                bits == 15 and not parts
            ):  # raw deflate without a zlib header, as many servers send it
                return _inflate(body, -15, cap, cut=cut)
            raise BadEncodingError(f"the body cannot be decompressed: {error}") from error
        size += len(part)
        if size > cap and cut:
            return [*parts, part[: cap - size]]
        if size > cap:
            raise BodyTooLargeError(f"the body decompresses to more than {cap} bytes")
        parts.append(part)
        if cut and not stream.eof:
            return parts
        if not stream.eof:
            raise BadEncodingError("the compressed body is truncated")
        body = stream.unused_data.lstrip(b"\0")  # some servers pad to a block
    return parts
