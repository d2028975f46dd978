"""The lines of a batch: CSV, JSON lines, plain URLs and sitemaps, parsed one by one.

Nothing here uses the database. A line that cannot be parsed becomes a reason and never affects the
lines after it, whatever it contains.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, BinaryIO

import msgspec

from messor.errors import UsageError
from messor.frontier.cadence import parse_interval
from messor.frontier.tasks import LOWEST_PRIORITY
from messor.web import sitemaps
from messor.web.urls import MAX_URL_LENGTH, Url, parse

FORMATS = ("csv", "jsonl", "sitemap", "lines")
MAX_LINE = 16 * 1024
MAX_SHOWN = 300  # characters of a rejected line that are kept
_SUFFIXES = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xml": "sitemap",
    ".gz": "sitemap",
}
_FIELDS = {"url", "priority", "frequency", "crawl_frequency"}


@dataclass(frozen=True, slots=True)
class BatchItem:
    """A parsed line."""

    line: int
    text: str
    url: Url
    priority: int | None = None
    frequency: timedelta | None = None
    kind: str = "page"


@dataclass(frozen=True, slots=True)
class BadLine:
    """A rejected line, and why."""

    line: int
    text: str
    reason: str


Line = BatchItem | BadLine


def guess_format(name: str, head: bytes) -> str:
    """The format of a file, by its name, else by how it begins."""
    for suffix, form in _SUFFIXES.items():
        if name.lower().endswith(suffix):
            return form
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith((b"<", b"\x1f\x8b")):
        return "sitemap"
    if head.startswith((b"{", b'"')):
        return "jsonl"
    first = head.partition(b"\n")[0].lower()
    names = [cell.strip(b' "\r') for cell in first.split(b",")]
    return "csv" if b"url" in names else "lines"


def raw_lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines of a file, each cut off at the maximum length."""
    while piece := file.readline(MAX_LINE + 1):
        yield piece
        while len(piece) > MAX_LINE and not piece.endswith(b"\n"):
            piece = file.readline(MAX_LINE + 1)  # rest of an overlong line


class LineReader:
    """Parses the lines of one batch in one format."""

    def __init__(self, form: str) -> None:
        if form not in FORMATS:
            raise UsageError(f"The format must be {', '.join(FORMATS)}, not {form[:50]!r}.")
        self._form = form
        self._number = 0
        self._header: list[str] | None = None

    def read(self, raw: bytes) -> Line | None:
        """Parse a line; None for an empty line, a comment or the header.

        Raises UsageError if the header is missing, as no line could be parsed without it.
        """
        self._number += 1
        if self._number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        try:
            text = raw.decode().strip()
        except UnicodeDecodeError:
            return self._bad(raw.decode(errors="replace"), "not valid UTF-8")
        if self._form == "csv" and self._header is None and text:
            self._header = _header(_cells(text))
            text = ""
        if not text:
            return None
        try:
            _check(text, len(raw))
            fields = self._fields(text)
            return None if fields is None else self._item(text, fields)
        except UsageError as error:
            return self._bad(text, str(error))

    def _fields(self, text: str) -> dict[str, Any] | None:
        if self._form == "csv":
            return self._csv_fields(text)
        if self._form == "jsonl":
            return _json_fields(text)
        return None if text.startswith("#") else {"url": text}

    def _csv_fields(self, text: str) -> dict[str, Any]:
        header = self._header or []
        cells = _cells(text)
        if len(cells) > len(header):
            raise UsageError(f"{len(cells)} cells, but the header has {len(header)}")
        return {name: cell.strip() for name, cell in zip(header, cells, strict=False) if name}

    def _item(self, text: str, fields: dict[str, Any]) -> BatchItem:
        return BatchItem(
            self._number,
            text,
            _url(fields.get("url")),
            _priority(fields.get("priority")),
            _frequency(fields.get("frequency") or fields.get("crawl_frequency")),
        )

    def _bad(self, text: str, reason: str) -> BadLine:
        return BadLine(self._number, text.replace("\0", "\ufffd")[:MAX_SHOWN], reason)


def sitemap_lines(body: bytes) -> Iterable[Line]:
    """Yield every entry of a sitemap; the sitemaps that an index lists are read as well."""
    found = sitemaps.read(body)
    if not found.urls and not found.sitemaps:
        raise UsageError("Not a sitemap: it contains no URL.")
    entries = [(href, "page") for href, _ in found.urls]
    entries += [(href, "sitemap") for href, _ in found.sitemaps]
    for number, (href, kind) in enumerate(entries, 1):
        url = parse(href)
        if url is None:
            yield BadLine(number, href[:MAX_SHOWN], "not a web URL")
        else:
            yield BatchItem(number, href, url, kind=kind)


def _check(text: str, size: int) -> None:
    if size > MAX_LINE:
        raise UsageError(f"longer than {MAX_LINE} bytes")
    if "\0" in text:
        raise UsageError("it contains a NUL character")


def _cells(text: str) -> list[str]:
    """The cells of one CSV line; an open quote must not swallow the rest of the file."""
    try:
        return next(csv.reader([text], strict=True))
    except (csv.Error, StopIteration) as error:
        raise UsageError(f"not CSV: {error}") from error


def _header(cells: list[str]) -> list[str]:
    names = [cell.strip().lower() for cell in cells]
    if "url" not in names:
        raise UsageError("The first line of a CSV file must name its columns, one of them url.")
    return [name if name in _FIELDS else "" for name in names]


def _json_fields(text: str) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(f"not JSON: {error}") from error
    if isinstance(value, str):
        return {"url": value}
    if not isinstance(value, dict):
        raise UsageError("not an object with a url")
    return value


def _url(value: Any) -> Url:
    if not isinstance(value, str) or not value.strip():
        raise UsageError("the url is missing")
    text = value.strip()
    if len(text) > MAX_URL_LENGTH:
        raise UsageError(f"the URL is longer than {MAX_URL_LENGTH} characters")
    url = parse(text) if "://" in text else None
    if url is None:
        raise UsageError("not a web URL such as https://example.org/page")
    return url


def _priority(value: Any) -> int | None:
    if value is None or value == "":
        return None
    text = str(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else ""
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:4]) <= LOWEST_PRIORITY):
        raise UsageError(f"the priority must be a number from 1 (first) to {LOWEST_PRIORITY}")
    return int(text)


def _frequency(value: Any) -> timedelta | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise UsageError("the frequency must be text such as 12h or weekly")
    return parse_interval(value)
