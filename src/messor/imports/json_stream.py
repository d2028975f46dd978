"""Streaming JSON parser: yields wanted values one by one and skips all others.

A document is never held whole, so neither its size nor its compression determines memory use. A
shape describes what is wanted; depth, count and length of values are bounded.

By hand, because `ijson` 3.6 (its C backend, 2.5 times as fast) bounds nothing: a string of 40 MB
takes it 6 s, 3 MB of opening brackets more than 45 s, here about 1 s each. It also refuses the
control characters and invalid UTF-8 that browsers export.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BufferedReader
from itertools import count
from typing import Any

import msgspec

_PIECE = 262_144
_MAX_DEPTH = 64
# Braces, brackets and strings: ten thousand entries of a browser have a tenth of it.
MAX_TOKENS = 4_000_000
_MAX_KEY = 1_000
_MAX_SCALAR = 100
_MAX_ODD = 8_000_000

_BETWEEN = re.compile(rb"[\s,:]*+")
_STRING_PART = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_SCALAR = re.compile(rb'[^\s,:{}\[\]"]*+')
_NEXT_MARK = re.compile(rb'["{}\[\]]')


class BadJsonError(Exception):
    """The document is not JSON or exceeds a bound; nothing after that position can be read."""


@dataclass(frozen=True, slots=True)
class WantedText:
    """A wanted string or number, of at most so many bytes as written."""

    limit: int


@dataclass(frozen=True, slots=True)
class Many:
    """A wanted list of values of one shape; those beyond the limit are skipped."""

    shape: Shape
    limit: int


Shape = WantedText | Many | Mapping[str, "Shape"]


class TooLong:
    """Stands for a string longer than wanted."""


TOO_LONG = TooLong()


class JsonStream:
    """A JSON document being parsed."""

    def __init__(self, stream: BufferedReader, limit: int) -> None:
        self._stream = stream
        self._left = limit
        self._limit = limit
        self._buffer = b""
        self._at = 0
        self._tokens = 0

    def items(self, *path: str, most: int) -> Iterator[None]:
        """Stop before each item of the list at a path; each must then be read."""
        for name in path:
            if self._mark() != b"{" or not self._find(name):
                raise BadJsonError(f"it has no {'.'.join(path)}")
        if self._mark() != b"[":
            raise BadJsonError(f"its {'.'.join(path)} is not a list")
        for number in count():
            if self._mark(advance=False) == b"]":
                return
            if number == most:
                raise BadJsonError(f"its {'.'.join(path)} has more than {most:,} items")
            yield

    def read(self, shape: Shape) -> Any:
        """The next value in a shape; None if it is of another type."""
        mark = self._mark(advance=False)
        if mark == b'"' and isinstance(shape, WantedText):
            self._at += 1
            return self._string(shape.limit)
        if mark == b"[" and isinstance(shape, Many):
            return self._list(shape)
        if mark == b"{" and isinstance(shape, Mapping):
            return self._object(shape)
        if isinstance(shape, WantedText) and mark not in b"{[":
            return self._scalar()
        self._pass_over()
        return None

    def _list(self, shape: Many) -> list[Any]:
        self._at += 1
        found: list[Any] = []
        while self._mark(advance=False) != b"]":
            if len(found) < shape.limit:
                found.append(self.read(shape.shape))
            else:
                self._pass_over()
        self._at += 1
        return found

    def _object(self, shape: Mapping[str, Shape]) -> dict[str, Any]:
        self._at += 1
        found: dict[str, Any] = {}
        while (key := self._key()) is not None:
            wanted = shape.get(key)
            if wanted is None:
                self._pass_over()
            else:
                found[key] = self.read(wanted)
        return found

    def _find(self, name: str) -> bool:
        """Stop before the value of a key of the current object; false at the object's end."""
        while (key := self._key()) is not None:
            if key == name:
                return True
            self._pass_over()
        return False

    def _key(self) -> str | None:
        """The next key of an object; None at its end."""
        mark = self._mark()
        if mark == b"}":
            return None
        if mark != b'"':
            raise BadJsonError("an object's key is not a string")
        key = self._string(_MAX_KEY)
        return key if isinstance(key, str) else ""

    def _mark(self, *, advance: bool = True) -> bytes:
        """The first character of the next value, key or end."""
        while True:
            self._at = _BETWEEN.match(self._buffer, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._buffer):
                break
            self._refill()
        mark = self._buffer[self._at : self._at + 1]
        if advance:
            self._at += 1
        self._count()
        return mark

    def _string(self, limit: int) -> str | TooLong:
        """The rest of a string after its opening quote."""
        parts: list[bytes] = []
        size = 0
        while True:
            end = _STRING_PART.match(self._buffer, self._at).end()  # type: ignore[union-attr]
            size += end - self._at
            if size <= limit:
                parts.append(self._buffer[self._at : end])
            else:
                parts.clear()
            self._at = end
            if self._buffer[end : end + 1] == b'"':
                self._at += 1
                return TOO_LONG if size > limit else _text(parts)
            self._refill()

    def _scalar(self) -> str | None:
        """A number or keyword, as written."""
        size, written = 0, b""
        while True:
            end = _SCALAR.match(self._buffer, self._at).end()  # type: ignore[union-attr]
            size += end - self._at
            written += self._buffer[self._at : end] if size <= _MAX_SCALAR else b""
            self._at = end
            if end < len(self._buffer):
                break
            self._refill()
        if not size:
            raise BadJsonError("a value is missing")
        return written.decode("ascii", "replace")

    def _pass_over(self) -> None:
        """Skip the next value."""
        if self._mark(advance=False) not in (b'"', b"{", b"["):
            self._scalar()
            return
        depth = 0
        while True:
            found = _NEXT_MARK.search(self._buffer, self._at)
            if found is None:
                self._at = len(self._buffer)
                self._refill()
                continue
            self._at = found.end()
            self._count()
            if found[0] == b'"':
                self._string(0)
            elif found[0] in b"{[":
                depth += 1
                if depth > _MAX_DEPTH:
                    raise BadJsonError(f"values are nested more than {_MAX_DEPTH} deep")
            else:
                depth -= 1
            if depth <= 0:
                return

    def _count(self) -> None:
        self._tokens += 1
        if self._tokens > MAX_TOKENS:
            raise BadJsonError(f"it has more than {MAX_TOKENS:,} values")

    def _refill(self) -> None:
        """Read more input behind what is left; a premature end is an error."""
        if self._left <= 0:
            raise BadJsonError(f"it is larger than {self._limit:,} bytes")
        piece = self._stream.read(min(_PIECE, self._left))
        if not piece:
            raise BadJsonError("it ends prematurely")
        if self._left == self._limit:
            piece = piece.removeprefix(b"\xef\xbb\xbf")
        self._left -= len(piece)
        self._buffer = self._buffer[self._at :] + piece
        self._at = 0


def _text(parts: list[bytes]) -> str | TooLong:
    written = b'"%b"' % b"".join(parts)
    parts.clear()
    try:
        return msgspec.json.decode(written, type=str)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _odd_text(written)


def _odd_text(written: bytes) -> str | TooLong:
    """A string with lone surrogates, bare control characters or invalid UTF-8, as scripts write it.

    It takes several times its memory, so a long one is skipped.
    """
    if len(written) > _MAX_ODD:
        return TOO_LONG
    try:
        return str(json.loads(written.decode("utf-8", "replace"), strict=False))
    except ValueError:
        raise BadJsonError("a string is not valid") from None
