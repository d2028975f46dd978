"""Addresses within the console: where a person may be sent, and how a domain or page is reached."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import quote, urlencode, urlsplit
from uuid import UUID

LONGEST = 2_000


def within(text: str, otherwise: str = "/") -> str:
    """A path of the console that somebody else may have written; anything else is replaced."""
    if not text.startswith("/") or text.startswith("//") or len(text) > LONGEST:
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
    """A path with those values that say something."""
    given = {name: value for name, value in values.items() if value not in (None, "", False)}
    return f"{path}?{urlencode(given)}" if given else path


def place_of(moment: datetime, key: UUID) -> str:
    """Where a list that is ordered by time goes on, as an address holds it."""
    return f"{moment.isoformat()}_{key}"


def place_from(text: str) -> tuple[datetime, UUID] | None:
    """The same as it was read; None for anything else."""
    try:
        moment, _, key = text.partition("_")
        return (datetime.fromisoformat(moment), UUID(key)) if key else None
    except ValueError:
        return None
