"""What a reader of saved files hands over: pages, and notes on what is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeAlias

from messor.core.masking import mask_text

# No page is older than the web: a file dated before says nothing about when it was saved.
_FIRST_WEBSITE = datetime(1991, 8, 6, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SavedPage:
    """One page as it was saved, its body unpacked."""

    origin: str  # the file, for people
    body: bytes
    url: str | None = None  # as stated by the person or the archive; None: ask the page itself
    content_type: str | None = None
    saved_at: datetime | None = None
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A page, or a whole file, that cannot be imported, and why."""

    origin: str
    reason: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Damage:
    """A file that ends or breaks off before its time; what came before it counts."""

    origin: str
    reason: str


@dataclass(frozen=True, slots=True)
class PassedOver:
    """Something that is no page: an image, a redirect, a request."""


Item: TypeAlias = SavedPage | Unreadable | Damage | PassedOver
Items: TypeAlias = Iterator[Item]


def printable(text: str) -> str:
    """Text for people and the ledger: a file's name may hold anything, control codes included."""
    shown = mask_text(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
    if shown.isprintable():
        return shown
    return "".join(char if char.isprintable() else "\ufffd" for char in shown)


def parse_time(text: str | None) -> datetime | None:
    """A moment as archives write it (ISO 8601); without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat((text or "").strip())
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def age_of(saved_at: datetime | None, now: datetime) -> float:
    """Seconds since a page was saved; 0 when nobody can know."""
    if saved_at is None or saved_at < _FIRST_WEBSITE:
        return 0.0
    return max((now - saved_at).total_seconds(), 0.0)


def dated(items: Items, saved_at: datetime | None) -> Items:
    """Give pages without a time of their own that of their file."""
    for item in items:
        if isinstance(item, SavedPage) and item.saved_at is None and saved_at is not None:
            yield replace(item, saved_at=saved_at)
        else:
            yield item
