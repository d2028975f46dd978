"""MHTML files: a browser's "single file", a MIME message whose first HTML part is the page.

Parsed as a stream: images and other parts are not held, and the page only up to its size limit.
MIME features that browsers do not write are not supported.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email import policy
from email.message import Message
from email.parser import BytesHeaderParser
from email.utils import parsedate_to_datetime
from io import BufferedReader

from messor.imports.saved import SavedPage, Unreadable

# The file also carries the page's images: more than the page itself may have.
MAX_FILE = 500_000_000
_PIECE = 262_144
_MAX_HEAD = 262_144
_MAX_PARTS = 10_000
_MAX_DEPTH = 8
_MAX_BOUNDARY = 200
# A page in base64 or quoted-printable takes more bytes than the page.
_ENCODED = 3

_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_PAGES = ("text/html", "application/xhtml+xml")


class BadMhtmlError(Exception):
    """The file cannot be parsed as MHTML, and why."""


def read_mhtml(
    stream: BufferedReader, name: str, cap: int, url: str | None
) -> SavedPage | Unreadable:
    """The page of an MHTML file; `url` is its URL as given by a person."""
    try:
        parts = _Parts(stream, _ENCODED * cap)
        page = parts.page()
        body = page.decoded() if page is not None else b""
    except (BadMhtmlError, LookupError, ValueError) as error:
        return Unreadable(name, f"the file is not valid MHTML: {error}")
    if page is None:
        return Unreadable(name, "the file is MHTML without an HTML part")
    if len(body) > cap or page.is_cut:
        return Unreadable(name, f"the page is larger than {cap} bytes")
    message = parts.message
    stated = (
        url or _text(message, "Snapshot-Content-Location") or _text(page.head, "Content-Location")
    )
    return SavedPage(name, body, stated, _text(page.head, "Content-Type"), _saved_at(message))


@dataclass(slots=True)
class _Page:
    head: Message
    written: bytearray  # as in the file
    is_cut: bool  # it was too long

    def decoded(self) -> bytes:
        """The page's bytes, with the transfer encoding removed."""
        encoding = str(self.head.get("Content-Transfer-Encoding", "")).strip().lower()
        if encoding == "quoted-printable":
            return binascii.a2b_qp(self.written)
        return binascii.a2b_base64(self.written) if encoding == "base64" else bytes(self.written)


class _Parts:
    """The parts of a message being parsed, and its read-ahead."""

    def __init__(self, stream: BufferedReader, limit: int) -> None:
        self._stream = stream
        self._limit = limit  # of a page as encoded
        self._left = MAX_FILE
        self._ahead = b""
        self._bounds: list[bytes] = []
        self.message = self._head()

    def page(self) -> _Page | None:
        """The part that is the page: the one named as start, else the first HTML part."""
        start = self.message.get_param("start")
        first: _Page | None = None
        head: Message | None = self.message
        for _ in range(_MAX_PARTS):
            if head is None:
                return first
            is_page = head.get_content_type() in _PAGES
            if head.get_content_maintype() == "multipart":
                self._enter(head)
            is_wanted = is_page and (first is None or head.get("Content-ID") == start)
            page = self._body(head, keep=is_wanted)
            if is_wanted and (start is None or head.get("Content-ID") == start):
                return page
            if is_wanted and first is None:
                first = page
            head = self._next_head()
        raise BadMhtmlError(f"it has more than {_MAX_PARTS:,} parts")

    def _enter(self, head: Message) -> None:
        bound = head.get_boundary()
        if not bound or len(bound) > _MAX_BOUNDARY or len(self._bounds) >= _MAX_DEPTH:
            raise BadMhtmlError("it has no boundary between its parts")
        self._bounds.append(b"\n--" + bound.encode("latin-1", "replace"))

    def _body(self, head: Message, *, keep: bool) -> _Page:
        """Read up to the next delimiter."""
        page = _Page(head, bytearray(), is_cut=False)
        for piece in self._until_bound():
            if keep and not page.is_cut:
                page.written += piece
            if len(page.written) > self._limit:
                page.is_cut = True
                page.written.clear()
        if page.written.endswith(b"\r"):  # of the delimiter's line end
            page.written.pop()
        return page

    def _until_bound(self) -> Iterator[bytes]:
        """The bytes before the next delimiter of any enclosing message.

        Everything left if there is none.
        """
        longest = max(map(len, self._bounds), default=0)
        self._ahead = b"\n" + self._ahead  # a body may be empty
        lead = 1
        while True:
            places = [at for bound in self._bounds if (at := self._ahead.find(bound)) >= 0]
            if places:
                yield self._ahead[lead : min(places)]
                self._ahead = self._ahead[min(places) :]
                return
            keep = max(len(self._ahead) - longest, lead)
            yield self._ahead[lead:keep]
            self._ahead, lead = self._ahead[keep:], 0
            if not self._refill():
                yield self._ahead
                self._ahead = b""
                return

    def _next_head(self) -> Message | None:
        """The head of the part after a delimiter; None at the end of the message."""
        while self._ahead:
            bound = max((b for b in self._bounds if self._ahead.startswith(b)), key=len)
            self._ahead = self._ahead[len(bound) :]
            if len(self._ahead) < 2:
                self._refill()
            if not self._ahead.startswith(b"--"):
                del self._bounds[self._bounds.index(bound) + 1 :]
                return self._head()
            del self._bounds[self._bounds.index(bound) :]
            for _ in self._until_bound() if self._bounds else ():
                pass
            if not self._bounds:
                return None
        return None

    def _head(self) -> Message:
        while (end := _END_OF_HEAD.search(self._ahead)) is None:
            if len(self._ahead) > _MAX_HEAD:
                raise BadMhtmlError("the head of a part has no end")
            if not self._refill():
                break
        size = end.end() if end is not None else len(self._ahead)
        head, self._ahead = self._ahead[:size], self._ahead[size:]
        return BytesHeaderParser(policy=policy.compat32).parsebytes(head.lstrip(b"\r\n"))

    def _refill(self) -> bool:
        piece = self._stream.read(min(_PIECE, self._left))
        if not piece and not self._left:
            raise BadMhtmlError(f"it is larger than {MAX_FILE:,} bytes")
        self._left -= len(piece)
        self._ahead += piece
        return bool(piece)


def _text(part: Message, name: str) -> str | None:
    value = part.get(name)
    return " ".join(str(value).split()) if value is not None else None


def _saved_at(message: Message) -> datetime | None:
    try:
        moment = parsedate_to_datetime(str(message.get("Date", "")))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
