"""Corrections: people's values for fields of records, in force at once."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter

from messor.access.roles import Act
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.base import BigId
from messor.api.models.extraction import CorrectionIn
from messor.records import corrections, product_queries
from messor.records.correction_queries import CORRECTIONS, Correction, CorrectionFilter
from messor.store.database import Connection
from messor.store.listing import ListPage

router = APIRouter(tags=["corrections"], route_class=GatedRoute)


@router.get("/corrections")
@needs(Act.READ)
async def list_corrections(
    database: DatabaseDep,
    asked: Annotated[ListRequest[Correction, CorrectionFilter], list_request(CORRECTIONS)],
) -> ListPage[Correction]:
    """List corrections, newest first; a page may be short although more follow."""
    return await asked.read(database)


@router.post("/records/{record_id}/corrections", status_code=201)
@needs(Act.DOMAINS_REVIEW)
async def correct_record(
    record_id: BigId, given: CorrectionIn, connection: TransactionDep, principal: PrincipalDep
) -> Correction:
    """Correct or confirm a field of a record.

    The value takes effect at once and holds until the page itself changes; the page's own value is kept.
    """
    return await _correct(connection, record_id, given, principal.actor)


@router.post("/products/{product_id}/corrections", status_code=201)
@needs(Act.DOMAINS_REVIEW)
async def correct_product(
    product_id: BigId, given: CorrectionIn, connection: TransactionDep, principal: PrincipalDep
) -> Correction:
    """Correct or confirm a field of a product, in the record it comes from."""
    product = await product_queries.product(connection, product_id)
    return await _correct(connection, product.record_id, given, principal.actor)


@router.delete("/corrections/{correction_id}")
@needs(Act.DOMAINS_REVIEW)
async def withdraw_correction(
    correction_id: BigId, connection: TransactionDep, principal: PrincipalDep
) -> Correction:
    """Withdraw a correction in force; the page's own value applies again."""
    return await corrections.withdraw(connection, correction_id, actor=principal.actor)


async def _correct(
    connection: Connection, record_id: int, given: CorrectionIn, actor: str
) -> Correction:
    if given.act == "confirm":
        return await corrections.confirm(
            connection, record_id, given.field, actor=actor, reason=given.reason
        )
    return await corrections.correct(
        connection, record_id, given.field, given.value, actor=actor, reason=given.reason
    )
