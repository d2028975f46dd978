"""Tables: the outbox."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy.orm import Mapped

from messor.store.base import Base, belongs_to, check, column, index, utc, utc_now, uuid_key


class MailTable(Base):
    """A mail to one person. `manual` ones are not sent: no mail server was configured."""

    __tablename__ = "mails"
    __table_args__ = (
        check("(sent_at IS NOT NULL) = (state = 'sent')"),
        index("mails_domain", "domain_id, created_at DESC"),
        index("mails_age", "created_at"),
    )

    id: Mapped[uuid_key]
    kind: Mapped[str] = column(check="kind <> ''")
    domain_id: Mapped[UUID | None] = column(belongs_to("domains.id"))
    recipient: Mapped[str] = column(check="length(recipient) BETWEEN 1 AND 320")
    subject: Mapped[str] = column(check="length(subject) BETWEEN 1 AND 300")
    body: Mapped[str]
    state: Mapped[str] = column(check="state IN ('queued', 'sent', 'failed', 'manual')")
    last_error: Mapped[str | None]
    created_at: Mapped[utc_now]
    sent_at: Mapped[utc | None]
