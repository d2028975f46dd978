"""Records: list, details with evidence, and history."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter

from messor.access.roles import Act
from messor.api.context import DatabaseDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.base import BigId
from messor.records import queries
from messor.records.queries import (
    RECORD_CHANGES,
    RECORDS,
    ChangeFilter,
    FullRecord,
    ListedRecord,
    RecordChange,
    RecordFilter,
)
from messor.store.listing import ListPage

router = APIRouter(prefix="/records", tags=["records"], route_class=GatedRoute)


@router.get("")
@needs(Act.READ)
async def list_records(
    database: DatabaseDep,
    asked: Annotated[ListRequest[ListedRecord, RecordFilter], list_request(RECORDS)],
) -> ListPage[ListedRecord]:
    """List records, newest first; a page may be short although more follow."""
    return await asked.read(database)


@router.get("/{record_id}")
@needs(Act.READ)
async def show_record(record_id: BigId, database: DatabaseDep) -> FullRecord:
    """Get a record with confidence and evidence of every field."""
    return await queries.record(database, record_id)


@router.get("/{record_id}/changes")
@needs(Act.READ)
async def list_record_changes(
    record_id: BigId,
    database: DatabaseDep,
    asked: Annotated[
        ListRequest[RecordChange, ChangeFilter],
        list_request(RECORD_CHANGES, without=("record_id",)),
    ],
) -> ListPage[RecordChange]:
    """List the changes of a record and its fields, newest first."""
    await queries.record(database, record_id)
    return await asked.read(database, record_id=record_id)
