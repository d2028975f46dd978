"""Lists in the API: the query parameters of a listing, derived from its declaration."""

from __future__ import annotations

import inspect
from typing import Annotated, Any, Generic, Literal, TypeVar

from fastapi import Depends, Query, Request
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from messor.api.models.base import NO_NUL
from messor.errors import UsageError
from messor.store.listing import (
    DEFAULT_LIMIT,
    MAX_CURSOR,
    MAX_LIMIT,
    Filters,
    Listing,
    ListPage,
    Source,
    fault_of,
)

Item = TypeVar("Item")
Given = TypeVar("Given", bound=Filters)

MAX_TEXT = 500  # characters of a filter that declares no limit

Cursor = Annotated[
    str | None,
    Query(
        max_length=MAX_CURSOR,
        pattern=r"^[A-Za-z0-9_-]+$",
        description="`next` of the previous response",
    ),
]
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Maximum items per response")]


class ListRequest(Generic[Item, Given]):
    """The filters, order and position that a request gives."""

    def __init__(self, listing: Listing[Item, Given], given: dict[str, Any]) -> None:
        self._listing = listing
        self.limit: int = given.pop("limit")
        self.cursor: str | None = given.pop("cursor")
        self.order: str = given.pop("sort")
        try:
            self.filters = listing.filters.model_validate(given)
        except ValidationError as error:  # filters that contradict each other
            raise UsageError(fault_of(error)) from error

    async def read(self, source: Source, **fixed: Any) -> ListPage[Item]:
        """The page that is asked for; `fixed` are filters given by the path."""
        filters = self.filters.model_copy(update=fixed) if fixed else self.filters
        return await self._listing.read(
            source, filters, order=self.order, cursor=self.cursor, limit=self.limit
        )


def list_request(
    listing: Listing[Any, Any], *, without: tuple[str, ...] = (), most: int = MAX_LIMIT
) -> Any:
    """A dependency whose query parameters are those of the listing.

    Filters in `without` are not offered: the path gives their values. `most` items are given at once.
    """

    def depend(request: Request, **given: Any) -> ListRequest[Any, Any]:
        for name in given:
            if len(request.query_params.getlist(name)) > 1:  # the last one would win silently
                raise UsageError(f"Query parameter {name!r} may be given only once.")
        return ListRequest(listing, given)

    whole = _parameter("request", Request, inspect.Parameter.empty)
    depend.__signature__ = inspect.Signature([whole, *_parameters(listing, without, most)])  # type: ignore[attr-defined]
    return Depends(depend)


def _parameters(
    listing: Listing[Any, Any], without: tuple[str, ...], most: int
) -> list[inspect.Parameter]:
    fields = listing.filters.model_fields
    found = [
        _parameter(name, _annotation(field), field.default)
        for name, field in fields.items()
        if name not in without
    ]
    sort: Any = Annotated[Literal[tuple(listing.orders)], Query(description="Order")]
    bounds = Query(ge=1, le=most, description="Maximum items per response")
    limit: Any = Limit if most == MAX_LIMIT else Annotated[int, bounds]
    return [
        *found,
        _parameter("sort", sort, listing.default_order),
        _parameter("cursor", Cursor, None),
        _parameter("limit", limit, DEFAULT_LIMIT),
    ]


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
    )


def _annotation(field: FieldInfo) -> Any:
    is_text = field.annotation in (str, str | None)
    given = {
        name
        for bound in field.metadata
        for name in ("pattern", "max_length")
        if hasattr(bound, name)
    }
    defaults = {"pattern": NO_NUL, "max_length": MAX_TEXT} if is_text else {}
    bounds: Any = {name: bound for name, bound in defaults.items() if name not in given}
    query = Query(description=field.description, **bounds)
    return Annotated[(field.annotation, *field.metadata, query)]
