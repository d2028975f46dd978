"""Table: the change feed's log. Triggers fill it; see `migrations/functions/note_*.sql`."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Keyless,
    bigint,
    bigint_id,
    by_month,
    column,
    index,
    utc,
    utc_now,
    xid8,
)


class ChangeTable(Keyless):
    """A pointer to what changed, or a tombstone. It holds no content: an erasure needs no search
    here.
    """

    __tablename__ = "changes"
    __table_args__ = (index("changes_order", "tx, id"), by_month("occurred_at"))

    id: Mapped[bigint_id]
    tx: Mapped[xid8] = column(default="messor.commit_position()")
    occurred_at: Mapped[utc_now]
    seen_at: Mapped[utc | None]  # when the site was seen so
    kind: Mapped[str]
    state: Mapped[str] = column(
        check="state IN ('new', 'changed', 'removed', 'returned', 'erased')"
    )
    topic: Mapped[str | None]  # kind of record, type of event, status of candidate
    was: Mapped[str | None]  # the topic before
    subject: Mapped[bigint | None]
    subject_uuid: Mapped[UUID | None]
    domain_id: Mapped[UUID | None]
    ref_from: Mapped[bigint | None]  # a snapshot, an event, or the first change of a record
    ref_to: Mapped[bigint | None]
