"""Pages, snapshots and the fetch log."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response

from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep
from messor.api.cursors import CursorParam, Listing, Pager, PageSize, PositiveInt
from messor.api.gate import GatedRoute, needs
from messor.api.models.base import BIGGEST, NO_NUL, BigId
from messor.api.models.crawl import DiffOut, FetchOut, PageOut, SnapshotOut
from messor.api.routes.domains import name_of
from messor.api.routes.tasks import DomainFilter
from messor.archive import snapshot_content as archive
from messor.errors import UsageError
from messor.fetch import queries as fetches
from messor.frontier import page_stretches
from messor.frontier import queries as frontier
from messor.frontier.page_stretches import PageFilter
from messor.web.urls import Url, parse

router = APIRouter(tags=["pages"], route_class=GatedRoute)

Word = Annotated[str | None, Query(min_length=1, max_length=100, pattern=NO_NUL)]
UrlParam = Annotated[str | None, Query(min_length=1, max_length=8_000, pattern=NO_NUL)]

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
    *,
    domain: DomainFilter = None,
    outcome: Annotated[
        Word, Query(description="Outcome of the last fetch; waiting before the first")
    ] = None,
    category: Word = None,
    kind: Word = None,
    q: Annotated[Word, Query(description="Part of the URL")] = None,
    cursor: CursorParam = None,
    limit: PageSize = 50,
) -> Listing[PageOut]:
    """List pages in discovery order.

    A response scans a bounded part of the list, so it may contain few or no items although more follow.
    """
    name = name_of(domain) if domain else None
    pager = Pager("pages", name, outcome, category, kind, q)
    found = await page_stretches.read(
        database,
        PageFilter(outcome, category, kind, q),
        after=pager.read(cursor, PositiveInt) or 0,
        domain=name,
        limit=limit,
    )
    return Listing(
        items=[PageOut.model_validate(row) for row in found.pages],
        next=pager.write(found.reached) if found.reached else None,
    )


@router.get("/pages/{page_id}")
@needs(Act.READ)
async def show_page(page_id: BigId, database: DatabaseDep) -> PageOut:
    """Get a page with its current state."""
    return PageOut.model_validate(await frontier.page(database, page_id))


@router.get("/pages/{page_id}/snapshots")
@needs(Act.READ)
async def list_snapshots(
    page_id: BigId, database: DatabaseDep, *, cursor: CursorParam = None, limit: PageSize = 50
) -> Listing[SnapshotOut]:
    """List the snapshots of a page, newest first."""
    await frontier.page(database, page_id)
    pager = Pager("snapshots", page_id)
    before = pager.read(cursor, PositiveInt)
    rows = await archive.snapshots(database, page_id, before=before, limit=limit + 1)
    return Listing(
        items=[SnapshotOut.model_validate(row) for row in rows[:limit]],
        next=pager.next(rows, limit, lambda row: row.id),
    )


@router.get("/snapshots/{snapshot_id}")
@needs(Act.READ)
async def show_snapshot(snapshot_id: BigId, database: DatabaseDep) -> SnapshotOut:
    """Get the metadata of a snapshot."""
    return SnapshotOut.model_validate(await archive.snapshot(database, snapshot_id))


@router.get(
    "/snapshots/{snapshot_id}/markdown",
    response_class=Response,
    responses={200: {"content": {"text/markdown": {"schema": {"type": "string"}}}}},
)
@needs(Act.READ)
async def show_markdown(snapshot_id: BigId, database: DatabaseDep) -> Response:
    """Get the extracted text of a snapshot."""
    text = await archive.markdown(database, snapshot_id)
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
    folder = context.settings.data_dir / "archive"
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
    before = await archive.snapshot(database, snapshot_id)
    after = await archive.snapshot(database, to)
    if before.page_id != after.page_id:
        raise UsageError(
            "The snapshots belong to different pages; only snapshots of one page can be compared."
        )
    old = await archive.markdown(database, before.id)
    new = await archive.markdown(database, after.id)
    found = await asyncio.to_thread(archive.compare, old, new)
    return DiffOut(
        before=SnapshotOut.model_validate(before),
        after=SnapshotOut.model_validate(after),
        added=found.added,
        removed=found.removed,
        diff=found.diff,
        is_cut=found.is_cut,
    )


@router.get("/fetches")
@needs(Act.READ)
async def list_fetches(
    database: DatabaseDep,
    *,
    page_id: Annotated[int | None, Query(ge=1, le=BIGGEST)] = None,
    url: UrlParam = None,
    domain: DomainFilter = None,
    outcome: Word = None,
    cursor: CursorParam = None,
    limit: PageSize = 50,
) -> Listing[FetchOut]:
    """List fetches of one page, URL or domain, newest first."""
    if sum(one is not None for one in (page_id, url, domain)) != 1:
        raise UsageError("Specify exactly one of page_id, url and domain.")
    pager = Pager("fetches", page_id, url, domain, outcome)
    before = pager.read(cursor, tuple[datetime, PositiveInt])
    if domain is not None:
        log = await fetches.of_domain(
            database, name_of(domain), before=before, outcome=outcome, limit=limit
        )
        return Listing(
            items=[FetchOut.model_validate(row) for row in log.fetches],
            next=pager.write(log.reached) if log.reached else None,
        )
    found = page_id or await frontier.find(database, _parsed(url or ""))
    rows = await fetches.of_page(database, found, before=before, outcome=outcome, limit=limit + 1)
    return Listing(
        items=[FetchOut.model_validate(row) for row in rows[:limit]],
        next=pager.next(rows, limit, lambda row: (row.fetched_at, row.id)),
    )


def _parsed(text: str) -> Url:
    url = parse(text if "://" in text else f"https://{text}")
    if url is None:
        raise UsageError(f"{text[:200]!r} is not a valid URL.")
    return url
