"""Prices: what sites ask for their pages, and what a reviewer approved to pay.

Nothing is paid without an approval, whose caps are per page and per month in one currency. A payment
is reserved before the request that offers it and settled after; one whose end is not known counts as
paid. Receipts are events.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from messor.core.ids import new_id
from messor.errors import ConflictError, NotFoundError, UsageError
from messor.ledger.events import Event, record
from messor.registry.domains import MAX_REASON, Domain, checked
from messor.store.database import Connection, Database
from messor.web.quotes import MAX_AMOUNT, Quote, amount_of

# The newest quote of each way to be paid; in the flush that stores the responses.
NOTE = """
INSERT INTO messor.price_quotes AS q (domain_id, scheme, amount, currency, text, page_id, times)
SELECT DISTINCT ON (l.domain_id, g.scheme) l.domain_id, g.scheme, g.amount, g.currency, g.text,
       g.page_id, count(*) OVER (PARTITION BY l.domain_id, g.scheme)
  FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::numeric[], $5::text[], $6::text[])
       AS g (host_id, page_id, scheme, amount, currency, text)
  JOIN messor.lanes l ON l.host_id = g.host_id
 ORDER BY l.domain_id, g.scheme, g.page_id
ON CONFLICT (domain_id, scheme) DO UPDATE
   SET amount = excluded.amount, currency = excluded.currency, text = excluded.text,
       page_id = excluded.page_id, times = q.times + excluded.times, asked_at = messor.clock()
"""
REVOKE = """
UPDATE messor.price_approvals SET revoked_by = $2, revoked_at = messor.clock()
 WHERE domain_id = $1 AND revoked_at IS NULL RETURNING id
"""
APPROVE = """
INSERT INTO messor.price_approvals (id, domain_id, currency, per_page, per_month, reason, approved_by)
VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
# Pages that named a price are asked for again.
DUE = """
WITH due AS (
  UPDATE messor.crawl_tasks t SET due_at = messor.clock(), status = 'pending', retry_count = 0
    FROM messor.hosts h
   WHERE h.id = t.host_id AND h.domain_id = $1 AND t.outcome = 'priced'
     AND t.status NOT IN ('paused', 'cancelled')
  RETURNING t.host_id
)
UPDATE messor.lanes l SET due_at = messor.clock(),
       claim_at = CASE WHEN l.worker_id IS NULL THEN greatest(l.ready_at, messor.clock())
                       ELSE l.claim_at END
 WHERE l.host_id IN (SELECT host_id FROM due)
"""
IN_FORCE = """
SELECT id, currency, per_page, per_month, reason, approved_by, approved_at
  FROM messor.price_approvals WHERE domain_id = $1 AND revoked_at IS NULL
"""
LOCK = f"{IN_FORCE} FOR UPDATE"
# A statement of its own: it sees what was reserved while the approval's lock was waited for.
SPENT = """
SELECT coalesce(sum(coalesce(charged, amount)), 0) FROM messor.payments
 WHERE domain_id = $1 AND currency = $2
   AND begun_at >= date_trunc('month', (SELECT messor.clock()) AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
"""
RESERVE = """
INSERT INTO messor.payments (id, domain_id, page_id, approval_id, scheme, currency, amount, adapter)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""
SETTLE = """
UPDATE messor.payments SET charged = $2, receipt = $3, settled_at = messor.clock()
 WHERE id = $1 AND settled_at IS NULL RETURNING domain_id, page_id, currency, scheme, adapter
"""


@dataclass(frozen=True, slots=True)
class Approval:
    """What may be paid for a domain's pages."""

    id: UUID
    currency: str
    per_page: Decimal
    per_month: Decimal
    reason: str
    approved_by: str
    approved_at: datetime


@dataclass(frozen=True, slots=True)
class ReservedPayment:
    """A payment that the next request may offer."""

    id: UUID
    quote: Quote


@dataclass(frozen=True, slots=True)
class QuotedPage:
    """A response that named a price."""

    host_id: int
    page_id: int
    quote: Quote


async def note(connection: Connection, pages: Sequence[QuotedPage]) -> None:
    """Store the prices that responses named."""
    await connection.execute(
        NOTE,
        [each.host_id for each in pages],
        [each.page_id for each in pages],
        [each.quote.scheme.value for each in pages],
        [each.quote.amount for each in pages],
        [each.quote.currency for each in pages],
        [each.quote.text for each in pages],
    )


async def approve(
    connection: Connection, domain: Domain, *, page: str, month: str, reason: str, actor: str
) -> Approval:
    """Approve paying up to a price per page and a budget per month, such as `USD 0.01`."""
    currency, per_page = _understood(page)
    other, per_month = _understood(month)
    why = checked(reason, "reason", MAX_REASON)
    if why is None:
        raise UsageError("Give a reason for paying.")
    if currency != other or per_page > per_month:
        raise UsageError("Give the budget in the same currency, and not below the price of a page.")
    await connection.execute(REVOKE, domain.id, actor)
    await connection.execute(
        APPROVE, new_id(), domain.id, currency, per_page, per_month, why, actor
    )
    await connection.execute(DUE, domain.id)
    data = {"per_page": page, "per_month": month, "reason": why}
    await record(connection, [Event("price.approved", actor, domain.id, data=data)])
    found = await in_force(connection, domain.id)
    assert found is not None
    return found


async def revoke(connection: Connection, domain: Domain, *, actor: str) -> None:
    """Pay nothing more for a domain's pages."""
    if await connection.fetchval(REVOKE, domain.id, actor) is None:
        raise ConflictError(f"Nothing is approved to be paid for {domain.domain}.")
    await record(connection, [Event("price.revoked", actor, domain.id)])


async def in_force(source: Connection | Database, domain_id: UUID) -> Approval | None:
    row = await source.fetchrow(IN_FORCE, domain_id)
    return None if row is None else Approval(**row)


async def reserve(
    database: Database, domain_id: UUID, page_id: int, quote: Quote, adapter: str
) -> ReservedPayment | None:
    """Reserve a payment; None where no approval covers it or the month's budget is spent."""
    if quote.amount is None or quote.currency is None:
        return None
    async with database.transaction() as connection:
        row = await connection.fetchrow(LOCK, domain_id)
        approval = None if row is None else Approval(**row)
        if (
            approval is None
            or approval.currency != quote.currency
            or quote.amount > approval.per_page
        ):
            return None
        spent = await connection.fetchval(SPENT, domain_id, quote.currency)
        if spent + quote.amount > approval.per_month:
            return None
        made = ReservedPayment(new_id(), quote)
        await connection.execute(
            RESERVE, made.id, domain_id, page_id, approval.id, quote.scheme.value, quote.currency,
            quote.amount, adapter,
        )  # fmt: skip
        return made


async def settle(
    database: Database, payment: ReservedPayment, charged: Decimal, receipt: str
) -> None:
    """Store what was charged; a receipt is an event."""
    async with database.transaction() as connection:
        row = await connection.fetchrow(SETTLE, payment.id, charged, receipt)
        if row is None:
            raise NotFoundError("This payment was settled already.")
        data = {
            "payment": str(payment.id),
            "charged": f"{row['currency']} {charged:f}",
            "scheme": row["scheme"],
            "adapter": row["adapter"],
            "receipt": receipt,
        }
        kind = "payment.made" if charged else "payment.failed"
        await record(connection, [Event(kind, "worker", row["domain_id"], row["page_id"], data)])


def _understood(text: str) -> tuple[str, Decimal]:
    found = amount_of(text)
    if found is None or found[1] <= 0:
        raise UsageError(f"{text[:50]!r} is not an amount such as USD 0.01, up to {MAX_AMOUNT:,}.")
    return found
