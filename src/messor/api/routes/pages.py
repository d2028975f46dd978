"""Pages, snapshots and the fetch log."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Response

from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.base import BIGGEST, BigId
from messor.api.models.crawl import DiffOut
from messor.archive import queries as snapshots
from messor.archive import snapshot_content as archive
from messor.archive import texts
from messor.archive.queries import SNAPSHOTS, KeptSnapshot, SnapshotFilter
from messor.archive.storage import Archive
from messor.errors import UsageError
from messor.fetch.queries import FETCHES, FetchFilter, LoggedFetch
from messor.frontier import page_queries
from messor.frontier.page_queries import PAGES, KnownPage, PageFilter
from messor.store.listing import ListPage

router = APIRouter(tags=["pages"], route_class=GatedRoute)

# Foreign content: browsers must not execute it or sniff its type.
SANDBOX = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@router.get("/pages")
@needs(Act.READ)
async def list_pages(
    database: DatabaseDep,
    asked: Annotated[ListRequest[KnownPage, PageFilter], list_request(PAGES)],
) -> ListPage[KnownPage]:
    """List pages in discovery order.

    A response scans a bounded part of the list, so it may contain few or no items although more follow.
    """
    return await asked.read(database)


@router.get("/pages/{page_id}")
@needs(Act.READ)
async def show_page(page_id: BigId, database: DatabaseDep) -> KnownPage:
    """Get a page with its current state."""
    return await page_queries.page(database, page_id)


@router.get("/pages/{page_id}/snapshots")
@needs(Act.READ)
async def list_snapshots(
    page_id: BigId,
    database: DatabaseDep,
    asked: Annotated[
        ListRequest[KeptSnapshot, SnapshotFilter], list_request(SNAPSHOTS, without=("page_id",))
    ],
) -> ListPage[KeptSnapshot]:
    """List the snapshots of a page, newest first."""
    await page_queries.page(database, page_id)
    return await asked.read(database, page_id=page_id)


@router.get("/snapshots/{snapshot_id}")
@needs(Act.READ)
async def show_snapshot(snapshot_id: BigId, database: DatabaseDep) -> KeptSnapshot:
    """Get the metadata of a snapshot."""
    return await snapshots.snapshot(database, snapshot_id)


@router.get(
    "/snapshots/{snapshot_id}/markdown",
    response_class=Response,
    responses={200: {"content": {"text/markdown": {"schema": {"type": "string"}}}}},
)
@needs(Act.READ)
async def show_markdown(snapshot_id: BigId, database: DatabaseDep) -> Response:
    """Get the extracted text of a snapshot."""
    text = await texts.markdown(database, snapshot_id)
    return Response(text, media_type="text/markdown", headers=SANDBOX)


@router.get(
    "/snapshots/{snapshot_id}/html",
    response_class=Response,
    responses={
        200: {
            "content": {"application/octet-stream": {"schema": {"type": "string"}}},
            "description": "A download that browsers neither display nor execute",
        }
    },
)
@needs(Act.READ)
async def download_html(snapshot_id: BigId, database: DatabaseDep, context: ContextDep) -> Response:
    """Get the original bytes of a snapshot."""
    name, offset, length = await archive.record_place(database, snapshot_id)
    folder = Archive.of(context.settings)
    body = await asyncio.to_thread(archive.read_body, folder, name, offset, length)
    # The file name contains nothing from the site.
    disposition = f'attachment; filename="snapshot-{snapshot_id}.html"'
    headers = {**SANDBOX, "Content-Disposition": disposition}
    return Response(body, media_type="application/octet-stream", headers=headers)


@router.get("/snapshots/{snapshot_id}/diff")
@needs(Act.READ)
async def show_diff(
    snapshot_id: BigId,
    database: DatabaseDep,
    *,
    to: Annotated[int, Query(ge=1, le=BIGGEST, description="Another snapshot of the same page")],
) -> DiffOut:
    """Compare the text of two snapshots of a page."""
    before = await snapshots.snapshot(database, snapshot_id)
    after = await snapshots.snapshot(database, to)
    if before.page_id != after.page_id:
        raise UsageError(
            "The snapshots belong to different pages; only snapshots of one page can be compared."
        )
    old = await texts.markdown(database, before.id)
    new = await texts.markdown(database, after.id)
    found = await asyncio.to_thread(archive.compare, old, new)
    return DiffOut(
        before=before,
        after=after,
        added=found.added,
        removed=found.removed,
        diff=found.diff,
        is_cut=found.is_cut,
    )


@router.get("/fetches")
@needs(Act.READ)
async def list_fetches(
    database: DatabaseDep,
    asked: Annotated[ListRequest[LoggedFetch, FetchFilter], list_request(FETCHES)],
) -> ListPage[LoggedFetch]:
    """List fetches of one page, URL or domain, newest first."""
    return await asked.read(database)
