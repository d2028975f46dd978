"""Lists of prices that sites ask, and of payments, for every interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import PlainSerializer

from messor.store.listing import DomainText, Filters, Listing, both_ways, where
from messor.web.quotes import Scheme

OF_DOMAIN = "{alias}.domain_id = (SELECT id FROM messor.domains WHERE domain = {{}})"
Amount = Annotated[Decimal, PlainSerializer(float, return_type=float, when_used="json")]


@dataclass(frozen=True, slots=True)
class AskedPrice:
    """The newest price that a domain asks by one scheme, and what is approved to be paid."""

    domain: str
    scheme: Scheme
    amount: Amount | None
    currency: str | None
    text: str
    example: str | None
    times: int
    asked_at: datetime
    approved_currency: str | None
    per_page: Amount | None
    per_month: Amount | None
    spent: Amount

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        return cls(
            **{**{name: row[name] for name in cls.__slots__}, "scheme": Scheme(row["scheme"])}
        )


class AskedPriceFilter(Filters):
    """Filters of prices."""

    domain: DomainText | None = where(OF_DOMAIN.format(alias="q"), "Domain")
    scheme: Scheme | None = where("q.scheme = {}", "How it would be paid")
    approved: bool | None = where(
        "EXISTS (SELECT FROM messor.price_approvals x WHERE x.domain_id = q.domain_id"
        " AND x.revoked_at IS NULL) = {}",
        "Approved to be paid",
    )


PRICES = Listing(
    name="prices",
    item=AskedPrice,
    filters=AskedPriceFilter,
    table="messor.price_quotes",
    alias="q",
    joins="JOIN messor.domains d ON d.id = q.domain_id"
    " LEFT JOIN messor.pages p ON p.id = q.page_id"
    " LEFT JOIN messor.price_approvals a ON a.domain_id = q.domain_id AND a.revoked_at IS NULL",
    columns="""q.id, d.domain, q.scheme, q.amount, q.currency, q.text, p.url AS example, q.times,
      q.asked_at, a.currency AS approved_currency, a.per_page, a.per_month,
      (SELECT coalesce(sum(coalesce(y.charged, y.amount)), 0) FROM messor.payments y
        WHERE y.domain_id = q.domain_id AND y.currency = a.currency AND y.begun_at >=
          date_trunc('month', (SELECT messor.clock()) AT TIME ZONE 'UTC') AT TIME ZONE 'UTC')
        AS spent""",
    make=AskedPrice.of,
    orders=both_ways("-asked_at", "q.asked_at", "timestamptz", "Newest first", "Oldest first"),
)


@dataclass(frozen=True, slots=True)
class Payment:
    """One payment, with its receipt; without a settlement its end is not known."""

    id: UUID
    domain: str
    url: str | None
    scheme: Scheme
    currency: str
    amount: Amount
    charged: Amount | None
    receipt: str | None
    adapter: str
    begun_at: datetime
    settled_at: datetime | None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        return cls(**{**row, "scheme": Scheme(row["scheme"])})


class PaymentFilter(Filters):
    """Filters of payments."""

    domain: DomainText | None = where(OF_DOMAIN.format(alias="y"), "Domain")
    open: bool | None = where("(y.settled_at IS NULL) = {}", "Whose end is not known")


PAYMENTS = Listing(
    name="payments",
    item=Payment,
    filters=PaymentFilter,
    table="messor.payments",
    alias="y",
    joins="JOIN messor.domains d ON d.id = y.domain_id"
    " LEFT JOIN messor.pages p ON p.id = y.page_id",
    columns="""y.id, d.domain, p.url, y.scheme, y.currency, y.amount, y.charged, y.receipt, y.adapter,
      y.begun_at, y.settled_at""",
    key_type="uuid",
    make=Payment.of,
    orders=both_ways("-begun_at", "y.begun_at", "timestamptz", "Newest first", "Oldest first"),
)
