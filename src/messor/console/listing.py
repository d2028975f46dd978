"""Lists in the console: filters from the query string, form controls and links to further pages.

Everything comes from the listing's declaration; `ui.filter_form` in `ui.html` draws the controls.
Values that are not valid are left out, and a note says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin

from pydantic import ValidationError

from messor.access.roles import Act
from messor.console.addresses import with_query
from messor.console.call import ConsoleRequest
from messor.errors import UsageError
from messor.exports.nouns import NOUNS
from messor.store.listing import DEFAULT_LIMIT, Filters, Listing, fault_of, plain_type
from messor.watches.nouns import noun_of

Item = TypeVar("Item")
Given = TypeVar("Given", bound=Filters)


@dataclass(frozen=True, slots=True)
class Control:
    """One filter of a form."""

    name: str
    label: str
    kind: Literal["text", "number", "choice"]
    value: str
    choices: tuple[tuple[str, str], ...] = ()  # value and label
    is_optional: bool = True  # whether it can be left open


@dataclass(frozen=True, slots=True)
class Listed(Generic[Item, Given]):
    """A page of a list and what its template needs."""

    path: str
    items: list[Item]
    filters: Given
    given: dict[str, str]  # filters and order as they stand in the URL
    controls: tuple[Control, ...]
    orders: tuple[tuple[str, str], ...]
    order: str
    more: str | None
    first: str | None
    notes: tuple[str, ...]  # values that were left out, and why
    export: str | None = None  # the form that exports the whole list, if the caller may
    watch: str | None = None  # the form that watches what the list shows, if the caller may

    @property
    def is_filtered(self) -> bool:
        return any(name != "sort" for name in self.given)

    def link(self, **changes: object) -> str:
        """The list with some filters changed, from its first page."""
        return with_query(self.path, **{**self.given, **changes})


async def list_of(
    call: ConsoleRequest,
    listing: Listing[Item, Given],
    path: str,
    *,
    labels: Mapping[str, Mapping[str, str]] | None = None,
    choices: Mapping[str, tuple[str, ...]] | None = None,
    limit: int = DEFAULT_LIMIT,
    **fixed: Any,
) -> Listed[Item, Given]:
    """The list that the query string asks for.

    `labels` name the values of a filter for people, `choices` offer the values of a text filter,
    `fixed` are filters that the screen gives itself and that have no control.
    """
    typed = _typed(call, listing, fixed)
    filters, notes = _valid(listing, typed, fixed)
    order = call.query("sort")
    order = order if order in listing.orders else listing.default_order
    cursor = call.query("cursor") or None
    database = call.context.database
    try:
        page = await listing.read(database, filters, order=order, cursor=cursor, limit=limit)
    except UsageError:  # a cursor of other filters, such as from an old link
        cursor = None
        page = await listing.read(database, filters, order=order, limit=limit)
    given = {
        name: value
        for name, value in typed.items()
        if value and value != str(listing.filters.model_fields[name].default)
    }
    if order != listing.default_order:
        given["sort"] = order
    return Listed(
        path=path,
        items=page.items,
        filters=filters,
        given=given,
        controls=tuple(_controls(listing, typed, fixed, labels or {}, choices or {})),
        orders=tuple((name, one.label) for name, one in listing.orders.items()),
        order=order,
        more=with_query(path, **given, cursor=page.next) if page.next else None,
        first=with_query(path, **given) if cursor else None,
        notes=tuple(notes),
        export=_export(call, listing, {**given, **fixed}),
        watch=_watch(call, listing, {**given, **fixed}),
    )


def _export(
    call: ConsoleRequest, listing: Listing[Any, Any], given: Mapping[str, Any]
) -> str | None:
    noun = next((each for each in NOUNS.values() if each.listing is listing), None)
    if noun is None or not call.may(Act.DATA_EXPORT):
        return None
    filters = {name: value for name, value in given.items() if name != "sort"}
    return with_query("/exports/new", **{**filters, "noun": noun.name})


def _watch(
    call: ConsoleRequest, listing: Listing[Any, Any], given: Mapping[str, Any]
) -> str | None:
    noun = noun_of(listing.filters)
    if noun is None or not call.may(Act.WATCHES_MANAGE):
        return None
    filters = {name: value for name, value in given.items() if name in listing.filters.model_fields}
    return with_query("/watches/new", **{**filters, "noun": noun})


def _typed(
    call: ConsoleRequest, listing: Listing[Any, Any], fixed: Mapping[str, Any]
) -> dict[str, str]:
    return {
        name: call.query(name).strip() for name in listing.filters.model_fields if name not in fixed
    }


def _valid(
    listing: Listing[Any, Given], typed: dict[str, str], fixed: Mapping[str, Any]
) -> tuple[Given, list[str]]:
    """The filters; values that are not valid are removed from `typed` and noted."""
    notes: list[str] = []
    while True:
        values = {name: value for name, value in typed.items() if value}
        try:
            return listing.filters.model_validate({**values, **fixed}), notes
        except ValidationError as error:
            notes.append(fault_of(error))
            wrong = {str(one["loc"][0]) for one in error.errors() if one["loc"]}
            for name in wrong or set(values):  # filters that contradict each other: none of them
                typed[name] = ""


def _controls(
    listing: Listing[Any, Any],
    typed: dict[str, str],
    fixed: Mapping[str, Any],
    labels: Mapping[str, Mapping[str, str]],
    choices: Mapping[str, tuple[str, ...]],
) -> list[Control]:
    found = []
    for name, field in listing.filters.model_fields.items():
        if name in fixed:
            continue
        offered = choices.get(name) or _choices(field.annotation)
        kind: Literal["text", "number", "choice"] = "text"
        if offered:
            kind = "choice"
        elif field.annotation in (int, int | None, float, float | None):
            kind = "number"
        words = labels.get(name, {})
        value = typed[name]
        if kind == "choice" and value and value not in offered:
            offered = (*offered, value)
        found.append(
            Control(
                name,
                field.description or name,
                kind,
                value or ("" if field.default is None else str(field.default)),
                tuple((one, words.get(one, _words(one))) for one in offered),
                is_optional=field.default is None,
            )
        )
    return found


def _choices(annotation: Any) -> tuple[str, ...]:
    kind = plain_type(annotation)
    if kind is bool:
        return ("true", "false")
    return tuple(map(str, get_args(kind))) if get_origin(kind) is Literal else ()


def _words(value: str) -> str:
    plain = {"true": "yes", "false": "no"}
    return plain.get(value, value.replace("_", " "))
