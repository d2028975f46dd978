"""Content decoding with a hard bound: a bomb stops at the cap, whatever it claims to be."""

from __future__ import annotations

from isal import isal_zlib


class TooLargeError(Exception):
    """The body, or what it unpacks to, is over the cap."""


class BadEncodingError(Exception):
    """The body is not what its Content-Encoding says."""


_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 15}


def decode_content(body: bytes, encoding: str, cap: int) -> bytes:
    """Undo a Content-Encoding; raises TooLargeError past `cap` bytes."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return body
    bits = _WINDOW_BITS.get(encoding)
    if bits is None:
        raise BadEncodingError(f"Content-Encoding {encoding[:40]!r} was not asked for")
    return _inflate(body, bits, cap)


def _inflate(body: bytes, bits: int, cap: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while body:
        stream = isal_zlib.decompressobj(wbits=bits)
        try:
            part = stream.decompress(body, cap - size + 1)
        except isal_zlib.error as error:  # type: ignore[misc]
            if bits == 15 and not parts:  # "deflate" without its zlib header, as many send it
                return _inflate(body, -15, cap)
            if parts:  # padding after the last gzip member
                break
            raise BadEncodingError(f"the body cannot be unpacked: {error}") from error
        size += len(part)
        if size > cap:
            raise TooLargeError(f"the body unpacks to more than {cap} bytes")
        parts.append(part)
        if not stream.eof:
            raise BadEncodingError("the packed body ends before its time")
        body = stream.unused_data
    return parts[0] if len(parts) == 1 else b"".join(parts)
