"""Records: list, details with evidence, and history."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from messor.access.roles import Act
from messor.api.context import DatabaseDep
from messor.api.cursors import CursorParam, Listing, Pager, PageSize, PositiveInt
from messor.api.gate import GatedRoute, needs
from messor.api.models.base import NO_NUL, BigId
from messor.api.models.extraction import RecordChangeOut, RecordOut, WholeRecordOut
from messor.api.routes.domains import name_of
from messor.api.routes.tasks import DomainFilter
from messor.records import queries
from messor.records.queries import RecordFilter

router = APIRouter(prefix="/records", tags=["records"], route_class=GatedRoute)

Word = Annotated[str | None, Query(min_length=1, max_length=100, pattern=NO_NUL)]
Share = Annotated[float, Query(ge=0, le=1)]
Standing = Literal["current", "removed", "all"]


@router.get("")
@needs(Act.READ)
async def list_records(
    database: DatabaseDep,
    *,
    kind: Word = None,
    domain: DomainFilter = None,
    parser: Word = None,
    version: Annotated[Word, Query(description="Parser version")] = None,
    state: Standing = "current",
    confidence_from: Share = 0.0,
    confidence_to: Share = 1.0,
    cursor: CursorParam = None,
    limit: PageSize = 50,
) -> Listing[RecordOut]:
    """List records, newest first; a page may be short although more follow."""
    wanted = RecordFilter(
        kind,
        name_of(domain) if domain else None,
        parser,
        version,
        None if state == "all" else state,
        confidence_from,
        confidence_to,
    )
    pager = Pager("records", wanted)
    before = pager.read(cursor, PositiveInt)
    found = await queries.records(database, wanted, before=before, limit=limit)
    return Listing(
        items=[RecordOut.model_validate(row) for row in found.records],
        next=None if found.reached is None else pager.write(found.reached),
    )


@router.get("/{record_id}")
@needs(Act.READ)
async def show_record(record_id: BigId, database: DatabaseDep) -> WholeRecordOut:
    """Get a record with confidence and evidence of every field."""
    return WholeRecordOut.model_validate(await queries.record(database, record_id))


@router.get("/{record_id}/changes")
@needs(Act.READ)
async def list_record_changes(
    record_id: BigId, database: DatabaseDep, *, cursor: CursorParam = None, limit: PageSize = 50
) -> Listing[RecordChangeOut]:
    """List the changes of a record and its fields, newest first."""
    await queries.record(database, record_id)
    pager = Pager("record changes", record_id)
    before = pager.read(cursor, PositiveInt)
    rows = await queries.history(database, record_id, before=before, limit=limit + 1)
    return Listing(
        items=[RecordChangeOut.model_validate(row) for row in rows[:limit]],
        next=pager.next(rows, limit, lambda row: row.id),
    )
