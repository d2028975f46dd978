"""Relevance of pages: flags of a vertical and their review, and unproductive pages."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter

from messor.access.roles import Act
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.base import BigId
from messor.api.models.discovery import FlagReviewIn, VerticalName
from messor.insight.relevance import review
from messor.insight.relevance.queries import (
    FLAGS,
    UNPRODUCTIVE_PAGES,
    FlagFilter,
    PageFlag,
    UnproductiveFilter,
    UnproductivePage,
)
from messor.insight.relevance.review import Reviewed
from messor.insight.relevance.topics import topic_named
from messor.store.listing import ListPage

router = APIRouter(tags=["relevance"], route_class=GatedRoute)


@router.get("/verticals/{vertical}/flags")
@needs(Act.READ)
async def list_flags(
    vertical: VerticalName,
    database: DatabaseDep,
    asked: Annotated[ListRequest[PageFlag, FlagFilter], list_request(FLAGS, without=("vertical",))],
) -> ListPage[PageFlag]:
    """List flags of a vertical, those most useful to review first."""
    await topic_named(database, vertical)
    return await asked.read(database, vertical=vertical)


@router.post("/verticals/{vertical}/flags/{page_id}/review")
@needs(Act.DOMAINS_REVIEW)
async def review_flag(
    vertical: VerticalName,
    page_id: BigId,
    given: FlagReviewIn,
    connection: TransactionDep,
    principal: PrincipalDep,
) -> Reviewed:
    """Confirm or overturn the flag of a page; an undecided one needs `relevant`."""
    return await review.review(
        connection,
        await topic_named(connection, vertical),
        str(page_id),
        agrees=given.act == "confirm",
        actor=principal.actor,
        relevant=given.relevant,
        reason=given.reason,
    )


@router.get("/unproductive-pages")
@needs(Act.READ)
async def list_unproductive(
    database: DatabaseDep,
    asked: Annotated[
        ListRequest[UnproductivePage, UnproductiveFilter], list_request(UNPRODUCTIVE_PAGES)
    ],
) -> ListPage[UnproductivePage]:
    """List pages that yielded no record in 90 days; they are crawled rarely."""
    return await asked.read(database)
