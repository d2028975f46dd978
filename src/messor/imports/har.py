"""HAR files, as exported by a browser's network panel, parsed as a stream entry by entry."""

from __future__ import annotations

import base64
import binascii
from io import BufferedReader
from typing import Any

from messor.fetch.outcome import is_html
from messor.imports.json_stream import TOO_LONG, BadJsonError, JsonStream, Many, Shape, WantedText
from messor.imports.saved import Damage, Items, PassedOver, SavedPage, Unreadable, parse_time

# A session of an hour rarely exports more.
MAX_HAR_BYTES = 200_000_000
MAX_ENTRIES = 100_000
_MAX_HEADERS = 500
_SHORT = 200
_LONG = 8_192
# A page as JSON or base64 takes more bytes than the page.
_ESCAPED = 1.5


def _shape(cap: int) -> Shape:
    """The shape of a wanted entry; request bodies, cookies and timings are skipped."""
    header = {"name": WantedText(_SHORT), "value": WantedText(_LONG)}
    content = {
        "mimeType": WantedText(_SHORT),
        "encoding": WantedText(_SHORT),
        "text": WantedText(int(_ESCAPED * cap)),
    }
    return {
        "startedDateTime": WantedText(_SHORT),
        "request": {"method": WantedText(_SHORT), "url": WantedText(_LONG)},
        "response": {
            "status": WantedText(_SHORT),
            "headers": Many(header, _MAX_HEADERS),
            "content": content,
        },
    }


def read_har(stream: BufferedReader, name: str, cap: int) -> Items:
    """The pages of a HAR file, of at most `cap` bytes each."""
    document = JsonStream(stream, MAX_HAR_BYTES)
    shape = _shape(cap)
    number = 0
    try:
        for _ in document.items("log", "entries", most=MAX_ENTRIES):
            number += 1
            yield _read_entry(document.read(shape), name, cap)
    except BadJsonError as error:
        if number:
            yield Damage(name, f"the HAR file was read up to its entry {number}: {error}")
        else:
            yield Unreadable(name, f"the file is not a readable HAR file: {error}")


def _read_entry(entry: Any, name: str, cap: int) -> SavedPage | Unreadable | PassedOver:
    request, response = _part(entry, "request"), _part(entry, "response")
    content = _part(response, "content")
    url, mime = request.get("url"), content.get("mimeType")
    if not isinstance(url, str) or not isinstance(mime, str) or not is_html(mime, b""):
        return PassedOver()
    if request.get("method") != "GET" or response.get("status") != "200":
        return PassedOver()
    too_large = Unreadable(name, f"the page is larger than {cap} bytes", url)
    text = content.get("text")
    if not text or not isinstance(text, str):
        untold = Unreadable(name, "the HAR file was exported without the page's content", url)
        return too_large if text is TOO_LONG else untold
    try:
        body, content_type = _body(text, content.get("encoding"), mime)
    except (binascii.Error, ValueError):
        return Unreadable(name, "the page's content is not valid base64", url)
    if len(body) > cap:
        return too_large
    started = entry.get("startedDateTime")
    moment = parse_time(started) if isinstance(started, str) else None
    return SavedPage(name, body, url, content_type, moment, _headers(response))


def _body(text: str, encoding: object, mime: str) -> tuple[bytes, str]:
    """The bytes of a page and their type: text was decoded by the browser, base64 was not."""
    if encoding == "base64":
        return base64.b64decode(text, validate=False), mime
    return text.encode("utf-8", "replace"), f"{mime.partition(';')[0].strip()}; charset=utf-8"


def _headers(response: dict[str, Any]) -> tuple[tuple[bytes, bytes], ...]:
    """The response's headers; a line break in one would forge another."""
    pairs = [
        (header.get("name"), header.get("value"))
        for header in response.get("headers") or ()
        if isinstance(header, dict)
    ]
    return tuple(
        (name.encode("latin-1", "replace"), " ".join(value.split()).encode("latin-1", "replace"))
        for name, value in pairs
        if isinstance(name, str) and isinstance(value, str)
        if name and name.isprintable() and not {":", " "} & set(name)
    )


def _part(value: Any, name: str) -> dict[str, Any]:
    part = value.get(name) if isinstance(value, dict) else None
    return part if isinstance(part, dict) else {}
