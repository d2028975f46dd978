"""Tables: the queue of pages to be extracted."""

from __future__ import annotations

from sqlalchemy.orm import Mapped

from messor.store.base import Base, bigint, bigint_key, column, index, smallint, stored, utc_now


class ExtractionDueTable(Base):
    """A page to be extracted; a page's rows are taken oldest first. No snapshot: it is gone."""

    __tablename__ = "extraction_due"
    __table_args__ = (
        index("extraction_due_page", "page_id, id"),
        stored(fillfactor=80, autovacuum_vacuum_threshold=500, autovacuum_vacuum_scale_factor=0.02),
    )

    id: Mapped[bigint_key]
    page_id: Mapped[bigint]
    snapshot_id: Mapped[bigint | None]
    seen_at: Mapped[utc_now]  # when the change was seen
    due_at: Mapped[utc_now]
    attempts: Mapped[smallint] = column(default="0")
    cause: Mapped[str] = column(default="'page'", check="cause IN ('page', 'parser')")
    pin: Mapped[str | None]  # "parser=version" to be used for this one time
