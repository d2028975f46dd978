"""Tables: pre-flights and erasure."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    belongs_to,
    bigint,
    bigint_key,
    check,
    column,
    ctext,
    index,
    json,
    smallint,
    unique,
    utc,
    utc_now,
    uuid_key,
)


class PreflightTable(Base):
    """A look at a domain before the decision: three requests at most."""

    __tablename__ = "preflights"
    __table_args__ = (
        check("(finished_at IS NULL) = (report IS NULL)"),
        index("preflights_domain", "domain_id, requested_at DESC"),
        index("preflights_open", "domain_id", "finished_at IS NULL", unique=True),
    )

    id: Mapped[uuid_key]
    domain_id: Mapped[UUID] = column(belongs_to("domains.id"))
    page_id: Mapped[bigint | None]  # its crawl task; NULL when none was needed
    requested_by: Mapped[str]
    requested_at: Mapped[utc_now]
    finished_at: Mapped[utc | None]
    requests: Mapped[smallint] = column(default="0", check="requests BETWEEN 0 AND 3")
    report: Mapped[json | None]


class ErasureTable(Base):
    """What must never be kept again; a person by hash alone."""

    __tablename__ = "erasures"
    __table_args__ = (unique("kind, key"),)

    id: Mapped[uuid_key]
    kind: Mapped[str] = column(check="kind IN ('domain', 'url', 'person')")
    key: Mapped[ctext]
    reason: Mapped[str]
    erased_by: Mapped[str]
    created_at: Mapped[utc_now]


class PriceQuoteTable(Base):
    """The newest price that a domain asks, by each way to be paid."""

    __tablename__ = "price_quotes"
    __table_args__ = (unique("domain_id, scheme"),)

    id: Mapped[bigint_key]
    domain_id: Mapped[UUID] = column(belongs_to("domains.id"))
    scheme: Mapped[str]
    amount: Mapped[Decimal | None]  # NULL: not said, or not understood
    currency: Mapped[str | None]
    text: Mapped[str]  # as received
    page_id: Mapped[bigint | None]
    times: Mapped[bigint]
    asked_at: Mapped[utc_now]


class PriceApprovalTable(Base):
    """What a reviewer approved to be paid for a domain's pages."""

    __tablename__ = "price_approvals"
    __table_args__ = (
        check("per_month >= per_page"),
        check("(revoked_at IS NULL) = (revoked_by IS NULL)"),
        index("price_approvals_domain", "domain_id", "revoked_at IS NULL", unique=True),
    )

    id: Mapped[uuid_key]
    domain_id: Mapped[UUID] = column(belongs_to("domains.id"))
    currency: Mapped[str]
    per_page: Mapped[Decimal] = column(check="per_page > 0")
    per_month: Mapped[Decimal]
    reason: Mapped[str]
    approved_by: Mapped[str]
    approved_at: Mapped[utc_now]
    revoked_by: Mapped[str | None]
    revoked_at: Mapped[utc | None]


class PaymentTable(Base):
    """A payment, reserved before the request that offers it."""

    __tablename__ = "payments"
    __table_args__ = (
        check("(settled_at IS NULL) = (charged IS NULL)"),
        index("payments_domain", "domain_id, begun_at DESC"),
    )

    id: Mapped[uuid_key]
    domain_id: Mapped[UUID] = column(belongs_to("domains.id"))
    page_id: Mapped[bigint | None]
    approval_id: Mapped[UUID]
    scheme: Mapped[str]
    currency: Mapped[str]
    amount: Mapped[Decimal] = column(check="amount >= 0")
    charged: Mapped[Decimal | None] = column(check="charged >= 0")
    receipt: Mapped[str | None]
    adapter: Mapped[str]
    begun_at: Mapped[utc_now]
    settled_at: Mapped[utc | None]


class OwnerRequestTable(Base):
    """What a site's owner asks for, and how they showed that the domain is theirs."""

    __tablename__ = "owner_requests"
    __table_args__ = (
        check("(proved_at IS NULL) = (method IS NULL)"),
        index("owner_requests_domain", "domain, asked_at DESC"),
    )

    id: Mapped[uuid_key]
    domain: Mapped[ctext]
    wish: Mapped[str] = column(check="wish IN ('opt_out', 'erase', 'report')")
    contact: Mapped[str | None]
    challenge: Mapped[str]  # public: it stands in a record or a file
    token_hash: Mapped[bytes] = column(unique=True)  # of the request's own page
    source: Mapped[str] = column(check="source IN ('form', 'mail')")
    method: Mapped[str | None] = column(check="method IN ('dns', 'file')")
    asked_at: Mapped[utc_now]
    expires_at: Mapped[utc]
    proved_at: Mapped[utc | None]
    outcome: Mapped[str | None]


class SiteProofTable(Base):
    """A file of a site that is fetched and compared."""

    __tablename__ = "site_proofs"
    __table_args__ = (
        unique("host, expected, purpose"),
        index("site_proofs_page", "page_id", "state = 'waiting'"),
    )

    id: Mapped[uuid_key]
    page_id: Mapped[bigint]
    host: Mapped[ctext]
    expected: Mapped[str]
    purpose: Mapped[str] = column(check="purpose IN ('owner', 'push')")
    state: Mapped[str] = column(
        default="'waiting'", check="state IN ('waiting', 'proved', 'refused')"
    )
    reason: Mapped[str | None]
    asked_at: Mapped[utc_now]
    answered_at: Mapped[utc | None]


class PushedUrlTable(Base):
    """A URL that an owner pushed, while the key of the push is checked."""

    __tablename__ = "pushed_urls"

    host: Mapped[ctext] = column(key=True)
    expected: Mapped[str] = column(key=True)
    url: Mapped[ctext] = column(key=True)
    pushed_at: Mapped[utc_now]


class RetentionRuleTable(Base):
    """Which snapshots go, and when; without domain and vertical, of all domains."""

    __tablename__ = "retention_rules"
    __table_args__ = (check("days IS NOT NULL OR versions IS NOT NULL"),)

    id: Mapped[uuid_key]
    name: Mapped[ctext] = column(unique=True)
    domain: Mapped[ctext | None]
    vertical: Mapped[ctext | None]
    outcome: Mapped[str] = column(default="'any'", check="outcome IN ('any', 'good', 'bad')")
    days: Mapped[int | None] = column(check="days BETWEEN 0 AND 36500")
    versions: Mapped[int | None] = column(check="versions BETWEEN 1 AND 100000")
    created_by: Mapped[str]
    created_at: Mapped[utc_now]


class RetentionHoldTable(Base):
    """A domain or a page of which no rule removes anything."""

    __tablename__ = "retention_holds"
    __table_args__ = (index("retention_holds_domain", "domain"),)

    id: Mapped[uuid_key]
    domain: Mapped[ctext]
    url: Mapped[ctext | None]
    reason: Mapped[str]
    held_by: Mapped[str]
    held_at: Mapped[utc_now]


class ForgottenPageTable(Base):
    """A purged page; if a visit still brings it, it is purged again."""

    __tablename__ = "forgotten_pages"

    page_id: Mapped[bigint] = column(key=True)
    logs: Mapped[bool]  # what was logged of it, too
    forgotten_at: Mapped[utc_now]
