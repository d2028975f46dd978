"""MHTML files: a browser's "single file", a mail message whose first HTML part is the page."""

from __future__ import annotations

from datetime import UTC, datetime
from email import policy
from email.message import Message
from email.parser import BytesParser
from email.utils import parsedate_to_datetime
from io import BufferedReader

from messor.engine.imports.saved import SavedPage, Unreadable

# The file also carries the page's images: more than the page itself may weigh.
_WITH_IMAGES = 5


def read_mhtml(
    stream: BufferedReader, name: str, cap: int, url: str | None
) -> SavedPage | Unreadable:
    """The page of an MHTML file; `url` is where a person says it is from."""
    data = stream.read(_WITH_IMAGES * cap + 1)
    if len(data) > _WITH_IMAGES * cap:
        return Unreadable(name, f"the file is larger than {_WITH_IMAGES * cap} bytes")
    try:
        message = BytesParser(policy=policy.compat32).parsebytes(data)
        page = _root(message)
        body = page.get_payload(decode=True) if page is not None else None
    except (RecursionError, LookupError, ValueError):
        return Unreadable(name, "the file is not valid MHTML")
    if page is None or not isinstance(body, bytes):
        return Unreadable(name, "the file is MHTML without an HTML part")
    if len(body) > cap:
        return Unreadable(name, f"the page is larger than {cap} bytes")
    stated = url or _text(message, "Snapshot-Content-Location") or _text(page, "Content-Location")
    return SavedPage(name, body, stated, _text(page, "Content-Type"), _saved_at(message))


def _root(message: Message) -> Message | None:
    """The part that is the page: the one named as the start, else the first of HTML."""
    start = message.get_param("start")
    first = None
    for part in message.walk():
        if part.get_content_type() in ("text/html", "application/xhtml+xml"):
            if start is None or part.get("Content-ID") == start:
                return part
            first = first or part
    return first


def _text(part: Message, name: str) -> str | None:
    value = part.get(name)
    return " ".join(str(value).split()) if value is not None else None


def _saved_at(message: Message) -> datetime | None:
    try:
        moment = parsedate_to_datetime(str(message.get("Date", "")))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
