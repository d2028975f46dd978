"""HAR files: what a browser's network panel exports, read whole and taken entry by entry."""

from __future__ import annotations

import base64
import binascii
import json
from io import BufferedReader
from typing import Any

from messor.engine.imports.saved import Items, PassedOver, SavedPage, Unreadable, parse_time
from messor.fetch.naming import is_html

# JSON cannot be read in part; a session of an hour rarely exports more.
MAX_HAR_BYTES = 200_000_000


def read_har(stream: BufferedReader, name: str, cap: int) -> Items:
    """The pages of a HAR file, of at most `cap` bytes each."""
    data = stream.read(MAX_HAR_BYTES + 1)
    if len(data) > MAX_HAR_BYTES:
        yield Unreadable(name, f"the HAR file is larger than {MAX_HAR_BYTES} bytes")
        return
    try:
        entries = json.loads(data)["log"]["entries"]
    except (ValueError, KeyError, TypeError, RecursionError):
        entries = None
    if not isinstance(entries, list):
        yield Unreadable(name, "the file is not a HAR file: it has no log.entries")
        return
    del data
    for entry in entries:
        yield _read_entry(entry, name, cap)


def _read_entry(entry: Any, name: str, cap: int) -> SavedPage | Unreadable | PassedOver:
    request, response = _part(entry, "request"), _part(entry, "response")
    content = _part(response, "content")
    url, mime = request.get("url"), content.get("mimeType")
    if not isinstance(url, str) or request.get("method") != "GET" or response.get("status") != 200:
        return PassedOver()
    if not isinstance(mime, str) or not is_html(mime, b""):
        return PassedOver()
    text = content.get("text")
    if not isinstance(text, str) or not text:
        return Unreadable(name, "the HAR file was exported without the page's content", url)
    try:
        body, content_type = _body(text, content.get("encoding"), mime)
    except (binascii.Error, ValueError):
        return Unreadable(name, "the page's content is not valid base64", url)
    if len(body) > cap:
        return Unreadable(name, f"the page is larger than {cap} bytes", url)
    started = entry.get("startedDateTime")
    moment = parse_time(started) if isinstance(started, str) else None
    return SavedPage(name, body, url, content_type, moment, _headers(response))


def _body(text: str, encoding: object, mime: str) -> tuple[bytes, str]:
    """The bytes of a page and their type: text was decoded by the browser, base64 was not."""
    if encoding == "base64":
        return base64.b64decode(text, validate=False), mime
    return text.encode("utf-8", "replace"), f"{mime.partition(';')[0].strip()}; charset=utf-8"


def _headers(response: dict[str, Any]) -> tuple[tuple[bytes, bytes], ...]:
    """The answer's headers; a line break in one would forge another."""
    given = response.get("headers")
    pairs = [
        (str(header.get("name", "")), str(header.get("value", "")))
        for header in (given if isinstance(given, list) else [])
        if isinstance(header, dict)
    ]
    return tuple(
        (name.encode("latin-1", "replace"), " ".join(value.split()).encode("latin-1", "replace"))
        for name, value in pairs
        if name and name.isprintable() and not {":", " "} & set(name)
    )


def _part(value: Any, name: str) -> dict[str, Any]:
    part = value.get(name) if isinstance(value, dict) else None
    return part if isinstance(part, dict) else {}
