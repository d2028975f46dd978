"""URLs within the console: safe redirect targets, domain paths and list cursors."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import quote, urlencode, urlsplit
from uuid import UUID

MAX_LENGTH = 2_000


def within(text: str, otherwise: str = "/") -> str:
    """Validate an untrusted redirect target; anything but a local path becomes `otherwise`."""
    if not text.startswith("/") or text.startswith("//") or len(text) > MAX_LENGTH:
        return otherwise
    if "\\" in text or any(ord(one) <= 0x20 or ord(one) == 0x7F for one in text):
        return otherwise
    try:
        parts = urlsplit(text)
    except ValueError:
        return otherwise
    return otherwise if parts.scheme or parts.netloc else text


def domain_path(name: str, *more: str) -> str:
    return "/".join(["/domains", quote(name, safe=""), *more])


def with_query(path: str, **values: object) -> str:
    """A path with the non-empty values as its query string."""
    given = {name: value for name, value in values.items() if value not in (None, "", False)}
    return f"{path}?{urlencode(given)}" if given else path


def place_of(moment: datetime, key: UUID) -> str:
    """Encode the cursor of a list ordered by time."""
    return f"{moment.isoformat()}_{key}"


def place_from(text: str) -> tuple[datetime, UUID] | None:
    """Decode such a cursor; None when malformed."""
    try:
        moment, _, key = text.partition("_")
        return (datetime.fromisoformat(moment), UUID(key)) if key else None
    except ValueError:
        return None
