"""Saved views: members' named filters of a list.

A view belongs to its owner; a shared one may be opened, or used as default, by everybody, and
deleted by its owner or an admin. The meaning of the filters is left to the list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import msgspec

from messor.access.errors import ForbiddenError
from messor.access.principal import Principal
from messor.access.roles import Act
from messor.core.ids import new_id
from messor.errors import ConflictError, NotFoundError, UsageError
from messor.store.database import Connection, Database

MAX_VIEWS = 50  # views per member and list
MAX_LISTED = 200
MAX_NAME_LENGTH = 60
MAX_VALUE_LENGTH = 300

# The filters of a list that a view stores; the position in the list is not one of them.
LISTS: Mapping[str, tuple[str, ...]] = {
    "domains": (
        "view",
        "q",
        "status",
        "processing",
        "submitter_type",
        "trusted",
        "domain_class",
        "sort",
    ),
    "review": ("q", "submitter_type", "sort"),
    "tasks": ("q", "domain", "outcome", "kind", "batch", "status"),
}

# $1 is the viewer: their own views, and shared ones of others.
SEEN = """
SELECT v.id, v.list, v.name, v.filters::text AS filters, v.is_shared, v.member_id,
       m.name AS owner, v.created_at, d.view_id IS NOT NULL AS is_default
  FROM messor.saved_views v
  JOIN messor.members m ON m.id = v.member_id
  LEFT JOIN messor.default_views d ON d.view_id = v.id AND d.member_id = $1
 WHERE (v.member_id = $1 OR v.is_shared)
"""
LISTING = f"""{SEEN} AND ($2::text IS NULL OR v.list = $2)
 ORDER BY v.list, v.member_id <> $1, lower(v.name), v.id LIMIT $3"""
GET = f"{SEEN} AND v.id = $2"
DEFAULT = f"{SEEN} AND v.list = $2 AND d.view_id IS NOT NULL"

COUNT = "SELECT count(*) FROM messor.saved_views WHERE member_id = $1 AND list = $2"
SAVE = """
INSERT INTO messor.saved_views (id, member_id, list, name, filters, is_shared)
VALUES ($1, $2, $3, $4, $5::jsonb, $6)
ON CONFLICT (member_id, list, name)
DO UPDATE SET filters = excluded.filters, is_shared = excluded.is_shared
RETURNING id
"""
SHARE = "UPDATE messor.saved_views SET is_shared = $2 WHERE id = $1"
LEAVE_TO_OWNER = """
DELETE FROM messor.default_views d USING messor.saved_views v
 WHERE v.id = $1 AND d.view_id = v.id AND d.member_id <> v.member_id AND NOT v.is_shared
"""
BEGIN_WITH = """
INSERT INTO messor.default_views (member_id, list, view_id) VALUES ($1, $2, $3)
ON CONFLICT (member_id, list) DO UPDATE SET view_id = excluded.view_id
"""
BEGIN_PLAINLY = "DELETE FROM messor.default_views WHERE member_id = $1 AND list = $2"
REMOVE = "DELETE FROM messor.saved_views WHERE id = $1"


@dataclass(frozen=True, slots=True)
class SavedView:
    """A view as one member sees it."""

    id: UUID
    list: str
    name: str
    filters: dict[str, str]
    is_shared: bool
    member_id: UUID
    owner: str
    created_at: datetime
    is_default: bool  # for the viewer

    def may_change(self, by: Principal) -> bool:
        return self.member_id == by.member_id or by.may(Act.MEMBERS_MANAGE)


def filters_of(list_name: str, given: Mapping[str, str]) -> dict[str, str]:
    """The non-empty values that are filters of the list."""
    if list_name not in LISTS:
        raise UsageError(f"Views can be saved for these lists: {', '.join(LISTS)}.")
    found = {name: given.get(name, "").strip() for name in LISTS[list_name]}
    if any(len(value) > MAX_VALUE_LENGTH for value in found.values()):
        raise UsageError(f"A filter of a view may have at most {MAX_VALUE_LENGTH} characters.")
    return {name: value for name, value in found.items() if value}


async def listing(
    source: Connection | Database, by: Principal, list_name: str | None = None
) -> list[SavedView]:
    """One's own views, then shared ones of others; of one list or of all."""
    rows = await source.fetch(LISTING, by.member_id, list_name, MAX_LISTED)
    return [_view(row) for row in rows]


async def get(source: Connection | Database, by: Principal, view_id: UUID) -> SavedView:
    row = await source.fetchrow(GET, by.member_id, view_id)
    if row is None:
        raise NotFoundError("There is no such view, or it belongs to another member.")
    return _view(row)


async def default(source: Connection | Database, by: Principal, list_name: str) -> SavedView | None:
    """The view that a member's list opens with."""
    row = await source.fetchrow(DEFAULT, by.member_id, list_name)
    return None if row is None else _view(row)


async def save(
    connection: Connection,
    by: Principal,
    list_name: str,
    name: str,
    filters: Mapping[str, str],
    *,
    is_shared: bool = False,
) -> SavedView:
    """Save a view; one of the same name is replaced."""
    name, kept = " ".join(name.split()), filters_of(list_name, filters)
    if not name or len(name) > MAX_NAME_LENGTH:
        raise UsageError(f"Give the view a name of at most {MAX_NAME_LENGTH} characters.")
    if by.member_id is None:
        raise ForbiddenError("Only members can save views.")
    encoded = msgspec.json.encode(kept).decode()
    view_id: UUID = await connection.fetchval(
        SAVE, new_id(), by.member_id, list_name, name, encoded, is_shared
    )
    if await connection.fetchval(COUNT, by.member_id, list_name) > MAX_VIEWS:
        raise ConflictError(f"You have {MAX_VIEWS} views of this list; delete one first.")
    await connection.execute(LEAVE_TO_OWNER, view_id)
    return await get(connection, by, view_id)


async def share(connection: Connection, by: Principal, view: SavedView, *, is_shared: bool) -> None:
    """Share a view with everybody, or only with its owner: then it is nobody else's default any
    more.
    """
    _require(view, by)
    await connection.execute(SHARE, view.id, is_shared)
    await connection.execute(LEAVE_TO_OWNER, view.id)


async def begin_with(
    connection: Connection, by: Principal, view: SavedView, *, wanted: bool = True
) -> None:
    """Make this view the default of the list, or no longer."""
    if wanted:
        await connection.execute(BEGIN_WITH, by.member_id, view.list, view.id)
    else:
        await connection.execute(BEGIN_PLAINLY, by.member_id, view.list)


async def remove(connection: Connection, by: Principal, view: SavedView) -> None:
    _require(view, by)
    await connection.execute(REMOVE, view.id)


def _require(view: SavedView, by: Principal) -> None:
    if not view.may_change(by):
        raise ForbiddenError(f"This view belongs to {view.owner}; save one of your own.")


def _view(row: Mapping[str, object]) -> SavedView:
    given = dict(row)
    kept = msgspec.json.decode(str(given["filters"]), type=dict[str, str])
    given["filters"] = filters_of(str(given["list"]), kept)  # in the list's own order
    return msgspec.convert(given, SavedView)
