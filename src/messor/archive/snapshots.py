"""Snapshots: a page's content as seen, immutable, unique by page and hashes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from messor.archive.segments import Place
from messor.store.database import Connection, sparse

# Incremented when the reader's markdown or data change, so that such changes are not attributed to
# sites.
READER_VERSION = 1

# A page that returns to earlier content reuses its old snapshot (A, B, A). If that snapshot's bytes
# were found to be another page's, the new ones replace them; `messor.mended` then has the page
# extracted again.
_BYTES = (
    "raw_hash",
    "segment_id",
    "segment_offset",
    "segment_length",
    "revisit_segment_id",
    "revisit_offset",
    "revisit_length",
    "text_segment_id",
    "text_offset",
    "text_length",
    "text_words",
    "size",
    "status_code",
    "content_type",
    "provider",
    "crawled_at",
)
MEET_AGAIN = f"""
ON CONFLICT (page_id, content_hash, data_hash) DO UPDATE SET misfiled_at = NULL, {
    ", ".join(
        f"{name} = CASE WHEN s.misfiled_at IS NULL THEN s.{name} ELSE excluded.{name} END"
        for name in _BYTES
    )
}"""

# `fresh` distinguishes a new snapshot from a reused one.
STORE = f"""
INSERT INTO messor.page_snapshots AS s (page_id, content_hash, data_hash, raw_hash, segment_id,
       segment_offset, segment_length, size, status_code, content_type, title, description,
       language, crawled_at, reader_version, provider, verdict, signals, revisit_segment_id,
       revisit_offset, revisit_length, text_segment_id, text_offset, text_length, text_words)
SELECT g.page_id, g.content_hash, g.data_hash, g.raw_hash, g.segment_id, g.segment_offset,
       g.segment_length, g.size, g.status_code, g.content_type, g.title, g.description, g.language,
       (SELECT messor.clock()) - make_interval(secs => g.age), $17, g.provider,
       g.verdict, g.signals, g.revisit_segment_id, g.revisit_offset, g.revisit_length,
       g.text_segment_id, g.text_offset, g.text_length, g.text_words
  FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bytea[], $7::bytea[],
              $8::bigint[], $9::bigint[], $10::int[], $11::int[], $12::smallint[], $13::text[],
              $14::text[], $15::text[], $16::text[], $18::float8[],
              $19::text[], $20::text[], $21::jsonb[], $22::bigint[], $23::bigint[], $24::int[],
              $25::bigint[], $26::bigint[], $27::int[], $28::int[])
       AS g (page_id, host_id, token, content_hash, data_hash, raw_hash, segment_id,
             segment_offset, segment_length, size, status_code, content_type, title, description,
             language, age, provider, verdict, signals, revisit_segment_id, revisit_offset,
             revisit_length, text_segment_id, text_offset, text_length, text_words)
  JOIN messor.lanes l ON l.host_id = g.host_id AND l.token = g.token AND l.worker_id = $1
 ORDER BY g.page_id
{MEET_AGAIN}
RETURNING id, page_id, segment_id, segment_offset, revisit_segment_id, revisit_offset,
          text_segment_id, text_offset, xmax = 0 AS fresh
"""

# Ids come from the previous statement: joining here would be a join without an index.
DESCRIBE = """
WITH texts AS (
  INSERT INTO messor.snapshot_texts (snapshot_id, markdown, data)
  SELECT * FROM unnest($5::bigint[], $6::text[], $7::jsonb[])
), spare AS (
  INSERT INTO messor.spare_records (page_id, segment_id, segment_offset, segment_length)
  SELECT * FROM unnest($8::bigint[], $9::bigint[], $10::bigint[], $11::int[]) ON CONFLICT DO NOTHING
), changed AS (
  INSERT INTO messor.page_changes (page_id, snapshot_id, state, seen_at)
  SELECT g.page_id, g.snapshot_id, g.state, (SELECT messor.clock()) - make_interval(secs => g.age)
    FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::float8[])
         AS g (page_id, snapshot_id, state, age)
  ON CONFLICT DO NOTHING RETURNING page_id, snapshot_id, seen_at
)
INSERT INTO messor.extraction_due (page_id, snapshot_id, seen_at) SELECT * FROM changed
"""

# For a snapshot that was wrong and whose content was fetched again.
REWRITE = """
INSERT INTO messor.snapshot_texts (snapshot_id, markdown, data)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::jsonb[])
ON CONFLICT (snapshot_id) DO UPDATE SET markdown = excluded.markdown, data = excluded.data
"""
# Their text is in the archive.
UNSTORE = "DELETE FROM messor.snapshot_texts WHERE snapshot_id = ANY ($1::bigint[])"
SPARE = """
INSERT INTO messor.spare_records (page_id, segment_id, segment_offset, segment_length)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::int[]) ON CONFLICT DO NOTHING
"""

# A page is removed once, however often it is missing afterwards, and returns once.
PRESENCE = """
WITH changed AS (
  INSERT INTO messor.page_changes (page_id, seen_at, snapshot_id, state)
  SELECT g.page_id, (SELECT messor.clock()), CASE WHEN g.present THEN g.snapshot_id END,
         CASE WHEN g.present THEN 'changed' ELSE 'removed' END
    FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bool[], $6::bigint[])
         AS g (page_id, host_id, token, present, snapshot_id)
    JOIN messor.lanes l ON l.host_id = g.host_id AND l.token = g.token AND l.worker_id = $1
    CROSS JOIN LATERAL (SELECT c.state FROM messor.page_changes c WHERE c.page_id = g.page_id
                         ORDER BY c.seen_at DESC LIMIT 1) last
   WHERE (last.state = 'removed') = g.present
  ON CONFLICT DO NOTHING RETURNING page_id, snapshot_id, seen_at
)
INSERT INTO messor.extraction_due (page_id, snapshot_id, seen_at) SELECT * FROM changed
"""


@dataclass(frozen=True, slots=True)
class TextPlace:
    """Where a text is in the archive."""

    place: Place
    words: int


@dataclass(slots=True)
class Snapshot:
    """Content to be stored, with the location of its bytes."""

    page_id: int
    host_id: int
    token: int
    content_hash: bytes
    data_hash: bytes
    raw_hash: bytes
    place: Place
    size: int
    status_code: int
    content_type: str | None
    title: str | None
    description: str | None
    language: str | None
    markdown: str
    data: str | None
    state: str  # new or changed
    previous_id: int | None  # the page's snapshot until now
    provider: str = "http"
    revisit: Place | None = None  # its own record, where the bytes are another page's
    verdict: str | None = None  # None for content that may represent the page
    signals: str | None = None  # statements about its use, as JSON
    text: TextPlace | None = None  # where markdown and data are; None: in PostgreSQL

    @property
    def own_records(self) -> list[Place]:
        """The records of the archive that are this snapshot's alone."""
        own = [self.revisit or self.place]
        return own if self.text is None else [*own, self.text.place]


async def store(
    connection: Connection, worker_id: int, given: Sequence[tuple[Snapshot, float]]
) -> dict[int, int]:
    """Store snapshots, each with its age in seconds; returns their ids by page."""
    kept = [snapshot for snapshot, _ in given]
    rows = await connection.fetch(
        STORE,
        worker_id,
        [s.page_id for s in kept],
        [s.host_id for s in kept],
        [s.token for s in kept],
        [s.content_hash for s in kept],
        [s.data_hash for s in kept],
        [s.raw_hash for s in kept],
        [s.place.segment_id for s in kept],
        [s.place.offset for s in kept],
        [s.place.length for s in kept],
        [s.size for s in kept],
        [s.status_code for s in kept],
        sparse([s.content_type for s in kept]),
        sparse([s.title for s in kept]),
        sparse([s.description for s in kept]),
        sparse([s.language for s in kept]),
        READER_VERSION,
        [age for _, age in given],
        [s.provider for s in kept],
        sparse([s.verdict for s in kept]),
        sparse([s.signals for s in kept]),
        *revisit_columns([s.revisit for s in kept]),
        *text_columns([s.text for s in kept]),
    )
    ids = {row["page_id"]: row["id"] for row in rows}
    fresh = {row["page_id"] for row in rows if row["fresh"]}
    stored = [
        (snapshot, age)
        for snapshot, age in given
        if snapshot.page_id in ids and ids[snapshot.page_id] != snapshot.previous_id
    ]
    texts = [s for s, _ in stored if s.page_id in fresh and s.text is None]
    changes = [(snapshot, age) for snapshot, age in stored if snapshot.verdict is None]
    await connection.execute(
        DESCRIBE,
        [s.page_id for s, _ in changes],
        [ids[s.page_id] for s, _ in changes],
        [s.state for s, _ in changes],
        [age for _, age in changes],
        [ids[s.page_id] for s in texts],
        [s.markdown for s in texts],
        sparse([s.data for s in texts]),
        *spare_columns(_spare(kept, rows)),
    )
    took = {row["page_id"]: (row["segment_id"], row["segment_offset"]) for row in rows}
    mended = [
        s
        for s in kept
        if s.page_id not in fresh and took.get(s.page_id) == (s.place.segment_id, s.place.offset)
    ]
    await rewrite(
        connection, [(ids[s.page_id], s.markdown, s.data) for s in mended if s.text is None]
    )
    await unstore(connection, [ids[s.page_id] for s in mended if s.text is not None])
    return ids


async def rewrite(connection: Connection, texts: Sequence[tuple[int, str, str | None]]) -> None:
    """Replace the texts derived from wrong bytes: snapshot, markdown and data."""
    if texts:
        ids, markdowns, data = zip(*texts, strict=True)
        await connection.execute(REWRITE, ids, markdowns, data)


async def unstore(connection: Connection, snapshot_ids: Sequence[int]) -> None:
    """Remove texts from PostgreSQL that the archive has."""
    if snapshot_ids:
        await connection.execute(UNSTORE, snapshot_ids)


def _spare(kept: Sequence[Snapshot], rows: Sequence[Any]) -> list[tuple[int, Place]]:
    """Records that no row refers to: of repeated content, or of a lost lane."""
    taken = {(row["segment_id"], row["segment_offset"]) for row in rows}
    taken |= {(row["revisit_segment_id"], row["revisit_offset"]) for row in rows}
    taken |= {(row["text_segment_id"], row["text_offset"]) for row in rows}
    own = [(s.page_id, place) for s in kept for place in s.own_records]
    return [(page_id, at) for page_id, at in own if (at.segment_id, at.offset) not in taken]


def spare_columns(
    spare: Sequence[tuple[int, Place]],
) -> tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int]]:
    """Pages and their spare records, as columns."""
    return (
        [page_id for page_id, _ in spare],
        [place.segment_id for _, place in spare],
        [place.offset for _, place in spare],
        [place.length for _, place in spare],
    )


async def spare(connection: Connection, records: Sequence[tuple[int, Place]]) -> None:
    """Store records of pages that no snapshot points at."""
    if records:
        await connection.execute(SPARE, *spare_columns(records))


def revisit_columns(
    places: Sequence[Place | None],
) -> tuple[Sequence[int | None], Sequence[int | None], Sequence[int | None]]:
    """The snapshots' own revisit records, as columns; most have none."""
    return (
        sparse([place.segment_id if place else None for place in places]),
        sparse([place.offset if place else None for place in places]),
        sparse([place.length if place else None for place in places]),
    )


def text_columns(
    texts: Sequence[TextPlace | None],
) -> tuple[Sequence[int | None], ...]:
    """Where the snapshots' texts are in the archive, as columns."""
    return (
        sparse([each.place.segment_id if each else None for each in texts]),
        sparse([each.place.offset if each else None for each in texts]),
        sparse([each.place.length if each else None for each in texts]),
        sparse([each.words if each else None for each in texts]),
    )


@dataclass(frozen=True, slots=True)
class Presence:
    """Whether a page that has a snapshot still exists."""

    page_id: int
    host_id: int
    token: int
    present: bool
    snapshot_id: int


async def mark_presence(connection: Connection, worker_id: int, seen: Sequence[Presence]) -> None:
    """Record pages that were removed, and pages that returned unchanged."""
    await connection.execute(
        PRESENCE,
        worker_id,
        [page.page_id for page in seen],
        [page.host_id for page in seen],
        [page.token for page in seen],
        [page.present for page in seen],
        [page.snapshot_id for page in seen],
    )
