"""What readers of saved files yield: pages, and notes about everything else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeAlias

from messor.core.masking import mask_text

# No page is older than the web: an earlier file date does not say when it was saved.
_FIRST_WEBSITE = datetime(1991, 8, 6, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SavedPage:
    """A page as saved, its body decompressed."""

    origin: str  # the file, for display
    body: bytes
    url: str | None = None  # as given by the person or the archive; None: use what the page states
    content_type: str | None = None
    saved_at: datetime | None = None
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A page or file that cannot be imported, and why."""

    origin: str
    reason: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Damage:
    """A file that ends or breaks off prematurely; what came before it counts."""

    origin: str
    reason: str


@dataclass(frozen=True, slots=True)
class PassedOver:
    """Something that is not a page: an image, a redirect, a request."""


Item: TypeAlias = SavedPage | Unreadable | Damage | PassedOver
Items: TypeAlias = Iterator[Item]


def printable(text: str) -> str:
    """Text safe for display and the ledger.

    A file name may hold anything, control codes included.
    """
    shown = mask_text(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
    if shown.isprintable():
        return shown
    return "".join(char if char.isprintable() else "\ufffd" for char in shown)


def parse_time(text: str | None) -> datetime | None:
    """A time as archives write it (ISO 8601); UTC without a zone."""
    try:
        moment = datetime.fromisoformat((text or "").strip())
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def age_of(saved_at: datetime | None, now: datetime) -> float:
    """Seconds since a page was saved; 0 if unknown."""
    if saved_at is None or saved_at < _FIRST_WEBSITE:
        return 0.0
    return max((now - saved_at).total_seconds(), 0.0)


def dated(items: Items, saved_at: datetime | None) -> Items:
    """Give pages without a time that of their file."""
    for item in items:
        if isinstance(item, SavedPage) and item.saved_at is None and saved_at is not None:
            yield replace(item, saved_at=saved_at)
        else:
            yield item
