"""Tables: the uses a domain is approved for, permissions on file, and what was held back."""

from __future__ import annotations

from datetime import date
from uuid import UUID

from sqlalchemy.orm import Mapped

from messor.rights.decide import Reason
from messor.rights.release import Purpose
from messor.rights.uses import USE_NAMES
from messor.store.base import (
    Base,
    Keyless,
    belongs_to,
    bigint,
    bigint_id,
    by_month,
    check,
    column,
    index,
    utc,
    utc_now,
    uuid_key,
)

_USES = ", ".join(f"'{use}'" for use in USE_NAMES)
_PURPOSES = ", ".join(f"'{purpose}'" for purpose in Purpose)
_REASONS = ", ".join(f"'{reason}'" for reason in Reason)


class DomainUsesTable(Base):
    """What a domain's content may be used for, as its approval says; no row: not named."""

    __tablename__ = "domain_uses"
    __table_args__ = (
        check("cardinality(uses) BETWEEN 1 AND 20"),
        check(f"uses <@ ARRAY[{_USES}]"),
    )

    domain_id: Mapped[UUID] = column(belongs_to("domains.id"), key=True)
    uses: Mapped[list[str]]
    set_by: Mapped[str]
    set_at: Mapped[utc_now]


class UsePermissionTable(Base):
    """An admin's statement that a use is permitted, whatever the site says to everybody."""

    __tablename__ = "use_permissions"
    __table_args__ = (
        index("use_permissions_domain", "domain_id", "revoked_at IS NULL"),
        check("(document IS NULL) = (document_name IS NULL)"),
        check("(revoked_at IS NULL) = (revoked_by IS NULL)"),
    )

    id: Mapped[uuid_key]
    domain_id: Mapped[UUID] = column(belongs_to("domains.id"))
    use: Mapped[str] = column(check=f"use IN ({_USES})")
    basis: Mapped[str] = column(check="basis IN ('own_content', 'contract', 'permission')")
    reason: Mapped[str] = column(
        check=r"btrim(reason, E' \t\r\n') <> '' AND length(reason) <= 2000"
    )
    document_name: Mapped[str | None] = column(check="length(document_name) BETWEEN 1 AND 200")
    document: Mapped[bytes | None] = column(check="length(document) <= 5000000")
    expires_on: Mapped[date | None]
    granted_by: Mapped[str]
    granted_at: Mapped[utc_now]
    revoked_by: Mapped[str | None]
    revoked_at: Mapped[utc | None]


class UseRefusalTable(Keyless):
    """Items that were held back, by batch."""

    __tablename__ = "use_refusals"
    __table_args__ = (
        index("use_refusals_domain", "domain_id, refused_at DESC"),
        index("use_refusals_newest", "id"),
        by_month("refused_at"),
    )

    id: Mapped[bigint_id]
    refused_at: Mapped[utc_now]
    domain_id: Mapped[UUID | None]
    purpose: Mapped[str] = column(check=f"purpose IN ({_PURPOSES})")
    use: Mapped[str] = column(check=f"use IN ({_USES})")
    reason: Mapped[str] = column(check=f"reason IN ({_REASONS})")
    place: Mapped[str | None]  # of the statement, such as "robots.txt, line 12"
    text: Mapped[str | None]
    items: Mapped[bigint]
    example_page_id: Mapped[bigint | None]
