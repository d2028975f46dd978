"""The change feed: batches in commit order from a stored cursor, with tombstones apart."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from messor_client.models import Change, FeedOut

TOMBSTONE = "erased"


class CursorStore(Protocol):
    """Where a follower keeps its place."""

    def load(self) -> str | None: ...

    def save(self, cursor: str) -> None: ...


@dataclass(frozen=True, slots=True)
class FileCursor:
    """A cursor in a file, replaced as a whole: a crash leaves the old one or the new one."""

    path: Path | str

    def load(self) -> str | None:
        """The stored cursor; None at the beginning."""
        try:
            return Path(self.path).read_text("utf-8").strip() or None
        except FileNotFoundError:
            return None

    def save(self, cursor: str) -> None:
        """Replace the stored cursor."""
        target = Path(self.path)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(cursor)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


@dataclass(frozen=True, slots=True)
class ChangeBatch:
    """Entries of the feed; `cursor` continues behind them."""

    items: list[Change]
    cursor: str | None
    has_more: bool

    @classmethod
    def of(cls, page: FeedOut) -> ChangeBatch:
        return cls(page.items, page.cursor, page.next is not None)

    @property
    def tombstones(self) -> list[Change]:
        """What was erased: delete what you keep of each `subject`."""
        return [change for change in self.items if change.state == TOMBSTONE]

    @property
    def statements(self) -> list[Change]:
        """All entries but tombstones."""
        return [change for change in self.items if change.state != TOMBSTONE]
