"""The change feed: entries in commit order with what changed, and the position to continue from.

Reading by position loses and repeats nothing: an entry becomes visible when every older transaction
has ended. An entry's id stays the same, so that a reader recognises one that it was given twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from messor.errors import CursorExpiredError
from messor.feed.entries import Details, Entry, details_of
from messor.store.listing import DomainText, Filters, Listing, Position, Source, both_ways, where

START = Position("0", "0")
COMMITTED = "committed"
MAX_BATCH = 5_000  # entries per response of the feed

State = Literal["new", "changed", "removed", "returned", "erased"]
KINDS = (
    "page",
    "snapshot",
    "record",
    "product",
    "candidate",
    "organisation",
    "serp",
    "domain",
)

NEWEST = """
SELECT c.tx::text, c.id::text FROM messor.changes c
 WHERE c.tx < messor.commit_horizon() ORDER BY c.tx DESC, c.id DESC LIMIT 1
"""
KEPT = (
    "SELECT EXISTS (SELECT FROM messor.changes WHERE tx = $1::text::xid8 AND id = $2::text::bigint)"
)


@dataclass(
    slots=True
)  # not frozen: making one would take ten times as long, of thousands per batch
class Change:
    """An entry of the change feed; `erased` is a tombstone."""

    id: str
    kind: str
    state: State
    subject: str  # what changed, such as record:17; the same in all its entries
    topic: str | None
    domain: str | None
    url: str | None
    page_id: int | None
    record_id: int | None
    product_id: int | None
    occurred_at: datetime
    seen_at: datetime | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    evidence: dict[str, Any] | None

    @property
    def position(self) -> Position:
        """Where to continue after this entry."""
        return Position(*self.id.split("-"))


class ChangeFilter(Filters):
    """Filters of the change feed."""

    kinds: str | None = where(
        "c.kind = ANY (string_to_array({}, ',')) OR c.topic = ANY (string_to_array({}, ','))",
        "Kinds or kinds of record, comma-separated, such as page,product",
        pattern=r"^[A-Za-z_.]{1,60}(,[A-Za-z_.]{1,60}){0,49}$",
    )
    state: State | None = where("c.state = {}", "State; erased is a tombstone")
    domain: DomainText | None = where(
        "c.domain_id = (SELECT id FROM messor.domains WHERE domain = {})", "Domain"
    )


ENTRIES = Listing(
    name="changes",
    item=Entry,
    filters=ChangeFilter,
    table="messor.changes",
    alias="c",
    only="c.tx < messor.commit_horizon()",
    columns="""c.tx::text AS tx, c.id AS number, c.occurred_at, c.seen_at, c.kind, c.state, c.topic,
               c.was, c.subject, c.subject_uuid, d.domain, c.ref_from, c.ref_to""",
    joins="""LEFT JOIN LATERAL (SELECT domain FROM messor.domains WHERE id = c.domain_id LIMIT 1) d
               ON true""",
    orders=both_ways(COMMITTED, "c.tx", "xid8", "Oldest first", "Newest first"),
    scan=20_000,
)


async def _read(
    source: Source,
    wanted: ChangeFilter,
    order: str,
    after: Position | None,
    limit: int,
    *,
    whole: bool = False,
) -> tuple[list[Change], Position | None]:
    await _require_kept(source, after)
    entries, reached = await ENTRIES.select(source, wanted, order, after, limit)
    return await _changes(source, entries, whole=whole), reached


async def _require_kept(source: Source, after: Position | None) -> None:
    if after is not None and after != START and not await _is_kept(source, after):
        raise CursorExpiredError(
            "The entries after this cursor are no longer kept; read the lists anew, then follow "
            "the feed without a cursor."
        )


async def _changes(source: Source, entries: Sequence[Entry], *, whole: bool) -> list[Change]:
    details = await details_of(source, entries, whole=whole)
    pairs = zip(entries, details, strict=True)
    return [_change(entry, known) for entry, known in pairs if known is not None]


async def _is_kept(source: Source, at: Position) -> bool:
    found: bool = await source.fetchval(KEPT, at.value, at.key)
    return found


def _change(entry: Entry, known: Details) -> Change:
    return Change(
        id=f"{entry.tx}-{entry.number}",
        kind=entry.kind,
        state=entry.state,  # type: ignore[arg-type]
        subject=f"{entry.kind}:{entry.subject_uuid or entry.subject}",
        topic=entry.topic,
        domain=entry.domain,
        url=known.url,
        page_id=known.page_id,
        record_id=known.record_id,
        product_id=known.product_id,
        occurred_at=entry.occurred_at,
        seen_at=entry.seen_at,
        before=known.before,
        after=known.after,
        evidence=known.evidence,
    )


CHANGES = Listing(
    name="changes",
    item=Change,
    filters=ChangeFilter,
    orders=ENTRIES.orders,
    reader=_read,
)


@dataclass(frozen=True, slots=True)
class FeedPage:
    """A batch of the feed; `cursor` continues after it, now or later."""

    items: list[Change]
    next: str | None  # the cursor if more follow already
    cursor: str | None


async def read_feed(
    source: Source,
    wanted: ChangeFilter,
    *,
    cursor: str | None = None,
    limit: int = MAX_BATCH,
    whole: bool = False,
) -> FeedPage:
    """The next entries in commit order; `whole`: with all values of records that changed."""
    after = CHANGES.position_at(wanted, COMMITTED, cursor)
    found, reached, has_more = await read_after(source, wanted, after, limit, whole=whole)
    at = CHANGES.cursor_at(reached, wanted, COMMITTED)
    return FeedPage(found, at if has_more else None, at)


async def read_after(
    source: Source,
    wanted: ChangeFilter,
    after: Position | None,
    limit: int,
    *,
    whole: bool = False,
) -> tuple[list[Change], Position, bool]:
    """The next entries, the position reached, and whether more follow already."""
    end = await newest(source)  # asked first: what is committed later lies behind it
    found, reached = await _read(source, wanted, COMMITTED, after, limit, whole=whole)
    if reached is not None:
        return found, reached, True
    return found, _furthest(after or START, end, found), False


async def read_entries(
    source: Source, after: Position, limit: int
) -> tuple[list[Entry], Position, bool]:
    """The same without details, for readers that read the tables themselves."""
    await _require_kept(source, after)
    end = await newest(source)
    found, reached = await ENTRIES.select(source, ChangeFilter(), COMMITTED, after, limit)
    if reached is not None:
        return found, reached, True
    return found, _furthest(after, end, found), False


def _furthest(after: Position, end: Position, found: Sequence[Change | Entry]) -> Position:
    return max(after, end, *(one.position for one in found[-1:]), key=_place)


def _place(at: Position) -> tuple[int, int]:
    return int(at.value), int(at.key)


async def newest(source: Source) -> Position:
    """The current end of the feed, to wait for what follows."""
    row = await source.fetchrow(NEWEST)
    return START if row is None else Position(*row)
