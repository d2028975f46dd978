"""WARC files of any producer, 1.0 and 1.1, parsed as a stream: one record in memory at a time.

A truncated or damaged file yields what is intact before that position. What a `revisit` record
refers to must have come before it. The caller decompresses gzip, `fetch` HTTP content encodings.

By hand, because the packages trust the file: of 60 MB of header lines `warcio` 1.8 takes 17 s and
1.5 GB, and both it and `fastwarc` 1.1, which bounds heads, pass a truncated record off as whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from io import BufferedReader

from messor.fetch.content_decoding import BadEncodingError, BodyTooLargeError, decode_content
from messor.fetch.outcome import is_html
from messor.imports.originals import Originals
from messor.imports.saved import Damage, Items, PassedOver, SavedPage, Unreadable, parse_time
from messor.imports.unzip import BROKEN_FILE

_PAGES = ("response", "resource", "revisit")
_MAX_LINE = 65_536
_MAX_LINES = 1_000
_MAX_HEAD = 262_144
_MAX_HTTP_HEAD = 1_048_576
_MAX_HEADERS = 1_000
_PIECE = 1_048_576
_LENGTH = re.compile(r"[0-9]{1,18}\Z")
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)? +(\d{3})")
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_CHUNK = re.compile(rb"([0-9a-fA-F]{1,8})[^\r\n]*\r?\n")

Headers = tuple[tuple[bytes, bytes], ...]


class BrokenRecordError(Exception):
    """A record without a recognisable end: nothing after it can be read."""


@dataclass(frozen=True, slots=True)
class _Record:
    """A record's head; its block is still to be read."""

    fields: Mapping[str, str]
    length: int

    @property
    def kind(self) -> str:
        return self.fields.get("warc-type", "").lower()

    @property
    def url(self) -> str:
        return self.fields.get("warc-target-uri", "").strip("<>")

    @property
    def digest(self) -> str:
        return self.fields.get("warc-payload-digest", "")


def read_warc(stream: BufferedReader, name: str, cap: int, originals: Originals) -> Items:
    """The pages of a WARC file, of at most `cap` bytes each."""
    number = 0
    try:
        while (record := _read_head(stream)) is not None:
            number += 1
            if record.kind not in _PAGES or not _is_web(record.url):
                _skip(stream, record.length)
                yield PassedOver()
            elif record.length > cap + _MAX_HTTP_HEAD:
                _skip(stream, record.length)
                yield Unreadable(name, f"the record is larger than {cap} bytes", record.url)
            elif record.kind == "revisit":
                yield _read_again(record, _take(stream, record.length), name, originals)
            else:
                yield _read_page(record, _take(stream, record.length), name, cap, originals)
    except (BrokenRecordError, *BROKEN_FILE) as error:
        yield Damage(name, f"the file breaks off after {number} records: {error}")


def _read_head(stream: BufferedReader) -> _Record | None:
    """The head of the next record; None at the end of the file."""
    line = b"\n"
    while line in (b"\r\n", b"\n"):
        line = stream.readline(_MAX_LINE)
    if not line:
        return None
    if not line.startswith(b"WARC/"):
        raise BrokenRecordError("a record does not begin with its version")
    fields: dict[str, str] = {}
    last, left = "", _MAX_HEAD
    for _ in range(_MAX_LINES):
        line = stream.readline(min(_MAX_LINE, left))
        left -= len(line)
        if not line.endswith(b"\n"):
            raise BrokenRecordError("a record's head is not complete")
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if not text:
            return _Record(fields, _length(fields))
        if text[0] in " \t" and last:  # a folded line goes on with the one before
            fields[last] += " " + text.strip()
            continue
        field, _, value = text.partition(":")
        last = field.strip().lower()
        fields[last] = value.strip()
    raise BrokenRecordError("a record's head has no end")


def _length(fields: Mapping[str, str]) -> int:
    text = fields.get("content-length", "")
    if not _LENGTH.match(text):
        raise BrokenRecordError("a record does not state its length")
    return int(text)


def _take(stream: BufferedReader, length: int) -> bytes:
    block = stream.read(length)
    if len(block) < length:
        raise BrokenRecordError("the file ends within a record")
    return block


def _skip(stream: BufferedReader, length: int) -> None:
    while length > 0:
        length -= len(_take(stream, min(length, _PIECE)))


def _is_web(url: str) -> bool:
    return url[:8].lower().startswith(("http://", "https://"))


def _read_page(
    record: _Record, block: bytes, name: str, cap: int, originals: Originals
) -> SavedPage | Unreadable | PassedOver:
    """The page a record holds, if it is one."""
    headers: Headers = ()
    content_type: str | None = record.fields.get("content-type")
    body = block
    if record.kind == "response":
        response = _split_http(block)
        if response is None:
            return PassedOver()
        headers, body = response
        content_type = _header(headers, b"content-type")
    if content_type and not is_html(content_type, b""):
        return PassedOver()
    if "warc-truncated" in record.fields or "warc-segment-number" in record.fields:
        return Unreadable(name, "the record does not hold the whole page", record.url)
    payload = body
    try:
        body = _unpack(headers, body, cap)
    except (BodyTooLargeError, BadEncodingError) as error:
        return Unreadable(name, str(error), record.url)
    if not is_html(content_type, body):
        return PassedOver()
    originals.keep(record.digest, content_type, payload=payload, body=body)
    moment = parse_time(record.fields.get("warc-date"))
    return SavedPage(name, body, record.url, content_type, moment, headers)


def _read_again(
    record: _Record, block: bytes, name: str, originals: Originals
) -> SavedPage | Unreadable | PassedOver:
    """The page of a record that refers to another one's bytes."""
    response = _split_http(block) if block else ((), b"")
    if response is None or "identical-payload-digest" not in record.fields.get("warc-profile", ""):
        return PassedOver()
    headers, _ = response
    content_type = _header(headers, b"content-type")
    if content_type and not is_html(content_type, b""):
        return PassedOver()
    original = originals.find(record.digest)
    if original is None:
        of = record.fields.get("warc-refers-to-target-uri", "").strip("<>")[:200]
        reason = "its bytes are in another file" + (f", of {of}" if of else "")
        return Unreadable(
            name, f"{reason}; name that file before this one in the same import", record.url
        )
    moment = parse_time(record.fields.get("warc-date"))
    return SavedPage(name, original[1], record.url, content_type or original[0], moment, headers)


def _split_http(block: bytes) -> tuple[Headers, bytes] | None:
    """Headers and body of a 200 response; None for any other."""
    status = _STATUS.match(block)
    end = _END_OF_HEAD.search(block, 0, _MAX_HTTP_HEAD)
    if status is None or status[1] != b"200" or end is None:
        return None
    headers = []
    lines = block[: end.start()].split(b"\n", _MAX_HEADERS + 1)
    if len(lines) > _MAX_HEADERS:
        return None
    for line in lines[1:]:
        field, colon, value = line.partition(b":")
        if colon:
            headers.append((field.strip(), value.strip()))
    return tuple(headers), block[end.end() :]


def _header(headers: Headers, name: bytes) -> str | None:
    for field, value in headers:
        if field.lower() == name:
            return value.decode("latin-1")
    return None


def _unpack(headers: Headers, body: bytes, cap: int) -> bytes:
    """The body without its transfer and content encodings.

    Some tools decode these and keep the headers: what does not look encoded is used as it is.
    """
    if "chunked" in (_header(headers, b"transfer-encoding") or "").lower():
        body = _join_chunks(body)
    encoding = (_header(headers, b"content-encoding") or "").strip().lower()
    if is_html(None, body):
        encoding = ""
    if len(body) > cap:
        raise BodyTooLargeError(f"the page is larger than {cap} bytes")
    return decode_content(body, encoding, cap).body


def _join_chunks(body: bytes) -> bytes:
    """A chunked body joined; one that is not chunked after all stays unchanged."""
    whole = bytearray()  # a list of many small chunks would take ten times as much
    place = 0
    while (head := _CHUNK.match(body, place)) is not None:
        size = int(head[1], 16)
        if size == 0:
            return bytes(whole)
        whole += body[head.end() : head.end() + size]
        place = head.end() + size
        place += 2 if body[place : place + 2] == b"\r\n" else 1
    return bytes(whole) if whole and place >= len(body) else body
