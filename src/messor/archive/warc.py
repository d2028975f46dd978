"""WARC 1.1 records: one gzip member each, so that any WARC tool reads a segment as is.

A body received as gzip is stored as received: that is better evidence, and compressing it twice
would cost time and gain nothing. Headers changed by decoding are renamed `X-Archive-Orig-*`, as is
customary. Bytes already archived under another URL are not written twice: a `revisit` record holds
the response's head and refers to the record that holds them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha1

from isal import igzip, isal_zlib

_PLAIN_LEVEL = 1
_FRAMING = frozenset({b"transfer-encoding", b"content-length"})
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_HTTP = "application/http; msgtype=response"
_SAME_PAYLOAD = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

Headers = Iterable[tuple[bytes, bytes]]


@dataclass(slots=True)
class Original:
    """The record that holds a payload, as others refer to it."""

    url: str
    date: str
    digest: bytes  # SHA-1 of the payload as stored


def warcinfo(software: str) -> bytes:
    """The record that opens a segment."""
    body = f"software: {software}\r\nformat: WARC File Format 1.1\r\n".encode()
    head = _head("warcinfo", len(body), content_type="application/warc-fields")
    return igzip.compress(head + body + b"\r\n\r\n", _PLAIN_LEVEL)


def response(
    url: str,
    status: int,
    reason: str,
    headers: Headers,
    *,
    body: bytes,
    gzipped: bytes | None = None,
    digest: bytes | None = None,
) -> bytes:
    """A response record; `gzipped` is the body as received, where it may be stored that way.

    `digest` is the SHA-1 of the stored payload, where already computed.
    """
    payload = body if gzipped is None else gzipped
    head = http_head(status, reason, headers, len(payload), packed=gzipped is not None)
    original = Original(url, now(), digest or payload_digest(payload))
    return full(original, head, payload, packed=gzipped is not None)


def revisit(
    url: str,
    status: int,
    reason: str,
    headers: Headers,
    *,
    original: Original,
    length: int,
    packed: bool,
) -> bytes:
    """A record of a response whose payload, of `length` bytes, is stored in an original."""
    head = http_head(status, reason, headers, length, packed=packed)
    return reference(url, now(), head, original)


def full(original: Original, http: bytes, payload: bytes, *, packed: bool = False) -> bytes:
    """A response record of an HTTP head and a payload, which may be compressed already."""
    head = _head(
        "response",
        len(http) + len(payload),
        content_type=_HTTP,
        date=original.date,
        url=original.url,
        digest=original.digest.hex(),
    )
    block = b"".join((head, http, payload, b"\r\n\r\n"))
    return _stored_member(block) if packed else igzip.compress(block, _PLAIN_LEVEL)


def reference(url: str, date: str, http: bytes, original: Original) -> bytes:
    """A revisit record of an HTTP head: WARC 1.1, identical payload digest."""
    head = _head(
        "revisit",
        len(http),
        content_type=_HTTP,
        date=date,
        url=url,
        digest=original.digest.hex(),
        original=original,
    )
    return igzip.compress(b"".join((head, http, b"\r\n\r\n")), _PLAIN_LEVEL)


def derived(kind: str, url: str, date: str, content_type: str, block: bytes) -> bytes:
    """A record of what was made of a page, such as its text; not yet compressed."""
    digest = payload_digest(block).hex()
    head = _head(kind, len(block), content_type=content_type, date=date, url=url, digest=digest)
    return b"".join((head, block, b"\r\n\r\n"))


def payload_digest(payload: bytes) -> bytes:
    """The payload digest of a record; it guards against damage, not against forgery."""
    return sha1(payload, usedforsecurity=False).digest()


def now() -> str:
    """The current time in WARC format."""
    return f"{datetime.now(UTC).isoformat(timespec='microseconds')[:26]}Z"


def written(moment: datetime) -> str:
    """A time in WARC format; WARC 1.1 allows fractions of a second."""
    return f"{moment.astimezone(UTC).isoformat(timespec='microseconds')[:26]}Z"


def http_head(status: int, reason: str, headers: Headers, length: int, *, packed: bool) -> bytes:
    """A response's head as archived, for a payload of `length` bytes."""
    lines = [f"HTTP/1.1 {status} {reason}".encode("latin-1", "replace")]
    for name, value in headers:
        lower = name.lower()
        renamed = lower in _FRAMING or (lower == b"content-encoding" and not packed)
        lines.append(b"%b%b: %b" % (b"X-Archive-Orig-" if renamed else b"", name, value))
    lines.append(b"Content-Length: %d" % length)
    return b"\r\n".join(lines) + b"\r\n\r\n"


def _head(
    kind: str,
    length: int,
    *,
    content_type: str,
    date: str | None = None,
    url: str | None = None,
    digest: str | None = None,
    original: Original | None = None,
) -> bytes:
    lines = [
        "WARC/1.1",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: <urn:uuid:{_uuid4()}>",
        f"WARC-Date: {date or now()}",
        f"Content-Type: {content_type}",
        f"Content-Length: {length}",
    ]
    if url is not None:
        lines.append(f"WARC-Target-URI: {url}")
    if digest is not None:
        lines.append(f"WARC-Payload-Digest: sha1:{digest}")
    if original is not None:
        lines += (
            f"WARC-Profile: {_SAME_PAYLOAD}",
            f"WARC-Refers-To-Target-URI: {original.url}",
            f"WARC-Refers-To-Date: {original.date}",
        )
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _uuid4() -> str:
    digits = os.urandom(16).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def _stored_member(block: bytes) -> bytes:
    """A gzip member of stored blocks: framing without compressing twice."""
    parts = [_GZIP_HEADER]
    for start in range(0, len(block), 0xFFFF):
        piece = block[start : start + 0xFFFF]
        last = start + 0xFFFF >= len(block)
        size = len(piece)
        parts.append(
            bytes((last,)) + size.to_bytes(2, "little") + (size ^ 0xFFFF).to_bytes(2, "little")
        )
        parts.append(piece)
    parts.append(isal_zlib.crc32(block).to_bytes(4, "little"))
    parts.append((len(block) & 0xFFFF_FFFF).to_bytes(4, "little"))
    return b"".join(parts)
