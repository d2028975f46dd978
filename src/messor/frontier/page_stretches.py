"""Pages that match a filter, one slice of the frontier at a time, with their state from the view."""

from __future__ import annotations

from dataclasses import dataclass

from messor.frontier import stretches
from messor.frontier.queries import PAGES, KnownPage
from messor.frontier.stretches import EVERY, TaskFilter
from messor.store.database import Connection, Database

# $6 outcome, $7 category, $8 kind, $9 a part of the URL, $10 with a snapshot
FITS = """
($6::text IS NULL OR coalesce(k.outcome, 'waiting') = $6) AND ($7::text IS NULL OR p.category = $7)
AND ($8::text IS NULL OR k.kind = $8) AND ($9::text IS NULL OR strpos(p.url, $9) > 0)
AND (NOT $10::boolean OR k.snapshot_id IS NOT NULL)
"""
OF_PAGE = "JOIN messor.pages p ON p.id = k.page_id"


@dataclass(frozen=True, slots=True)
class PageFilter:
    """Filter of pages; None matches everything."""

    outcome: str | None = None
    category: str | None = None
    kind: str | None = None
    containing: str | None = None
    kept: bool = False  # with a snapshot

    def as_filter(self) -> TaskFilter:
        if self == PageFilter():
            return EVERY
        values = (self.outcome, self.category, self.kind, self.containing, self.kept)
        return TaskFilter(FITS, values, joined=OF_PAGE)


@dataclass(frozen=True, slots=True)
class KnownPageSlice:
    """Matching pages, and where the next slice begins; None at the frontier's end."""

    pages: list[KnownPage]
    reached: int | None


async def read(
    source: Connection | Database,
    wanted: PageFilter,
    *,
    after: int = 0,
    domain: str | None = None,
    limit: int = 50,
    stretch: int | None = None,
) -> KnownPageSlice:
    """Pages in the order they were found."""
    look = await stretches.look(
        source, wanted.as_filter(), after=after, limit=limit, domain=domain, stretch=stretch
    )
    rows = await source.fetch(PAGES, look.ids) if look.ids else []
    return KnownPageSlice([KnownPage(**row) for row in rows], look.reached)
