"""Prices: what sites ask for their pages, approvals to pay them, and payments."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from messor.access.roles import Act
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.base import DomainName
from messor.api.routes.domains import name_of
from messor.governance import prices
from messor.governance.price_queries import (
    PAYMENTS,
    PRICES,
    Amount,
    AskedPrice,
    AskedPriceFilter,
    Payment,
    PaymentFilter,
)
from messor.governance.prices import Approval
from messor.registry import domains as registry
from messor.registry.domains import MAX_REASON
from messor.store.listing import ListPage

router = APIRouter(tags=["prices"], route_class=GatedRoute)


class ApprovalIn(BaseModel):
    """What may be paid for a domain's pages."""

    model_config = ConfigDict(extra="forbid")

    page: str = Field(max_length=50, description="Maximum price of a page, such as USD 0.01")
    month: str = Field(max_length=50, description="Budget per month, such as USD 20")
    reason: str = Field(min_length=1, max_length=MAX_REASON)


class ApprovalOut(BaseModel):
    """What may be paid for a domain's pages; without caps nothing is approved."""

    domain: str
    currency: str | None = None
    per_page: Amount | None = None
    per_month: Amount | None = None
    reason: str | None = None

    @classmethod
    def of(cls, domain: str, found: Approval | None) -> ApprovalOut:
        if found is None:
            return cls(domain=domain)
        return cls(
            domain=domain,
            currency=found.currency,
            per_page=found.per_page,
            per_month=found.per_month,
            reason=found.reason,
        )


@router.get("/prices")
@needs(Act.READ)
async def list_asked_prices(
    database: DatabaseDep,
    asked: Annotated[ListRequest[AskedPrice, AskedPriceFilter], list_request(PRICES)],
) -> ListPage[AskedPrice]:
    """List the newest price that each domain asks, and what is approved."""
    return await asked.read(database)


@router.get("/payments")
@needs(Act.READ)
async def list_payments(
    database: DatabaseDep,
    asked: Annotated[ListRequest[Payment, PaymentFilter], list_request(PAYMENTS)],
) -> ListPage[Payment]:
    """List payments and their receipts."""
    return await asked.read(database)


@router.get("/domains/{domain}/price-approval")
@needs(Act.READ)
async def show_price_approval(domain: DomainName, database: DatabaseDep) -> ApprovalOut:
    """Get what may be paid for a domain's pages."""
    found = await registry.get(database, name_of(domain))
    return ApprovalOut.of(found.domain, await prices.in_force(database, found.id))


@router.put("/domains/{domain}/price-approval")
@needs(Act.DOMAINS_REVIEW)
async def approve_price(
    domain: DomainName, given: ApprovalIn, connection: TransactionDep, principal: PrincipalDep
) -> ApprovalOut:
    """Approve paying for a domain's pages; replaces the former approval."""
    found = await registry.lock(connection, name_of(domain))
    made = await prices.approve(
        connection, found, page=given.page, month=given.month, reason=given.reason,
        actor=principal.actor,
    )  # fmt: skip
    return ApprovalOut.of(found.domain, made)


@router.delete("/domains/{domain}/price-approval")
@needs(Act.DOMAINS_REVIEW)
async def revoke_price(
    domain: DomainName, connection: TransactionDep, principal: PrincipalDep
) -> ApprovalOut:
    """Pay nothing more for a domain's pages."""
    found = await registry.lock(connection, name_of(domain))
    await prices.revoke(connection, found, actor=principal.actor)
    return ApprovalOut(domain=found.domain)
