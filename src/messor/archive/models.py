"""Tables: snapshots of pages, and where their bytes are in the WARC segments."""

from __future__ import annotations

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    bigint,
    bigint_key,
    column,
    index,
    json,
    smallint,
    unique,
    utc,
    utc_now,
)


class SegmentTable(Base):
    """A WARC file or object; `archive.location` says what its name means."""

    __tablename__ = "segments"
    __table_args__ = (
        index(
            "segments_single",
            "id",
            "state = 'sealed' AND strpos(name, '://') > 0 AND strpos(name, '#') = 0",
        ),
    )

    id: Mapped[bigint_key]
    name: Mapped[str] = column(unique=True)
    worker_id: Mapped[bigint]  # the worker lease it is written under
    state: Mapped[str] = column(default="'open'", check="state IN ('open', 'sealed')")
    bytes: Mapped[bigint] = column(default="0")
    created_at: Mapped[utc_now]
    sealed_at: Mapped[utc | None]


class PageSnapshotTable(Base):
    """A page's content as seen, and where its bytes are."""

    __tablename__ = "page_snapshots"
    __table_args__ = (unique("page_id, content_hash, data_hash"),)

    id: Mapped[bigint_key]
    page_id: Mapped[bigint]
    content_hash: Mapped[bytes]
    data_hash: Mapped[bytes]
    raw_hash: Mapped[bytes]
    reader_version: Mapped[smallint]
    segment_id: Mapped[bigint]
    segment_offset: Mapped[bigint]
    segment_length: Mapped[int]
    size: Mapped[int]
    status_code: Mapped[smallint]
    provider: Mapped[str] = column(default="'http'")
    content_type: Mapped[str | None]
    title: Mapped[str | None]
    description: Mapped[str | None]
    language: Mapped[str | None]
    crawled_at: Mapped[utc]
    verdict: Mapped[str | None]  # NULL for a good one; blocked, empty, soft_404 …
    signals: Mapped[json | None]  # what the site said of its use then, as a list of statements
    # If the bytes are in another page's record, this page has a revisit record of its own.
    revisit_segment_id: Mapped[bigint | None]
    revisit_offset: Mapped[bigint | None]
    revisit_length: Mapped[int | None]
    misfiled_at: Mapped[utc | None]  # when the bytes were found not to be this snapshot's
    # Where markdown and data are, if the archive holds them instead of `snapshot_texts`.
    text_segment_id: Mapped[bigint | None]
    text_offset: Mapped[bigint | None]
    text_length: Mapped[int | None]
    text_words: Mapped[int | None]


class SnapshotTextTable(Base):
    """Markdown and structured data of a snapshot, stored uncompressed (`STORAGE EXTERNAL`)."""

    __tablename__ = "snapshot_texts"

    snapshot_id: Mapped[bigint] = column(key=True)
    markdown: Mapped[str]
    data: Mapped[json | None]


class PageChangeTable(Base):
    """When a page was new, changed or removed."""

    __tablename__ = "page_changes"

    page_id: Mapped[bigint] = column(key=True)
    seen_at: Mapped[utc] = column(key=True)
    snapshot_id: Mapped[bigint | None]
    state: Mapped[str] = column(check="state IN ('new', 'changed', 'removed')")


class SpareRecordTable(Base):
    """A WARC record of a page that no snapshot points at; blanked when the page is purged."""

    __tablename__ = "spare_records"

    page_id: Mapped[bigint] = column(key=True)
    segment_id: Mapped[bigint] = column(key=True)
    segment_offset: Mapped[bigint] = column(key=True)
    segment_length: Mapped[int]


class DeadSegmentTable(Base):
    """A file or object that no segment names any more; deleted when no reader can still want it."""

    __tablename__ = "dead_segments"

    name: Mapped[str] = column(key=True)
    noted_at: Mapped[utc_now]
    delete_after: Mapped[utc]


class BlankTable(Base):
    """A WARC record whose bytes must go; blanked when the segment's writer is gone."""

    __tablename__ = "blanks"
    __table_args__ = (index("blanks_open", "segment_id", "blanked_at IS NULL"),)

    segment_id: Mapped[bigint] = column(key=True)
    segment_offset: Mapped[bigint] = column(key=True)
    segment_length: Mapped[int]
    asked_at: Mapped[utc_now]
    blanked_at: Mapped[utc | None]
