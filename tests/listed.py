"""The first page of a list, as every interface reads it."""

from __future__ import annotations

from typing import Any, TypeVar

from messor.store.listing import MAX_LIMIT, Listing, Source

Item = TypeVar("Item")


async def listed(
    listing: Listing[Item, Any], database: Source, /, *, order: str | None = None, **filters: Any
) -> list[Item]:
    given = listing.filters.model_validate(filters)
    return (await listing.read(database, given, order=order, limit=MAX_LIMIT)).items
