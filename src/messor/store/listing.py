"""Lists: the filters, orders, cursor and bounded count of a noun, declared once for every interface.

A room declares a `Filters` class, whose fields each carry their condition in SQL, and a `Listing`
over a table. Command line, API and console read the list through it and derive options, query
parameters and form controls from the declaration, so they cannot differ.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import UnionType
from typing import Annotated, Any, Generic, TypeVar, Union, get_args, get_origin

import asyncpg
import msgspec
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from messor.errors import UsageError
from messor.store.database import Connection, Database
from messor.web.suffixes import registrable_domain
from messor.web.urls import parse

DEFAULT_LIMIT = 50
MAX_LIMIT = 200  # items per page
MAX_COUNTED = 10_000  # rows counted; beyond, "more than"
MAX_CURSOR = 2_000  # characters

Source = Connection | Database
Item = TypeVar("Item")
Given = TypeVar("Given", bound="Filters")


class Filters(BaseModel):
    """Base of a noun's filters; a filter that is None matches everything."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def where(
    sql: str | Mapping[Any, str],
    about: str,
    default: Any = None,
    *,
    indexed: bool = False,
    **constraints: Any,
) -> Any:
    """Declare a filter: its condition, with `{}` for the value, and its description.

    A mapping holds one condition per value, without a parameter. `indexed` matters for listings
    that bound their scan: an index serves the condition in every order.
    """
    extra: Any = {"sql": sql, "indexed": indexed}
    return Field(default, description=about, json_schema_extra=extra, **constraints)


def domain_of(text: str) -> str:
    """The registrable domain of a domain name, host or URL."""
    url = parse(text if "://" in text else f"https://{text.strip()}")
    name = registrable_domain(url.host) if url is not None else None
    if name is None:
        raise ValueError(f"{text[:200]!r} is not a domain such as example.org")
    return name


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


Moment = Annotated[datetime, AfterValidator(_aware)]  # without a zone it is UTC
DomainText = Annotated[str, Field(max_length=2_000), AfterValidator(domain_of)]

_AGE = re.compile(r"(\d{1,5})([smhdw])", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def age_of(text: Any) -> Any:
    """A duration such as 90m, 12h or 7d; ISO 8601 is left to pydantic."""
    if not isinstance(text, str) or text.startswith("P"):
        return text
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text[:50]!r} is not a duration such as 90m, 12h, 7d or 2w")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


Age = Annotated[
    timedelta, BeforeValidator(age_of), Field(ge=timedelta(), le=timedelta(weeks=99_999))
]


@dataclass(frozen=True, slots=True)
class Order:
    """One order of a list: an expression, which no listed row may have as NULL, and its type in
    PostgreSQL.
    """

    sql: str
    type: str
    label: str  # for people, such as "Newest first"
    descending: bool = False
    only: str = "true"  # condition of the rows that the order lists; the others are left out


def both_ways(
    name: str, sql: str, type_: str, first: str, second: str, *, only: str = "true"
) -> dict[str, Order]:
    """An expression as two orders, `name` and `-name` for descending; the given one comes first."""
    is_down = name.startswith("-")
    other = name[1:] if is_down else f"-{name}"
    return {
        name: Order(sql, type_, first, descending=is_down, only=only),
        other: Order(sql, type_, second, descending=not is_down, only=only),
    }


class Position(msgspec.Struct, frozen=True, array_like=True):
    """A row's place in an order: the value and the key that breaks ties, as text."""

    value: str
    key: str


class ListPage(BaseModel, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    next: str | None = Field(description="Cursor of the next page; null at the end")


# Reads a page where the general query would be too slow, such as by bounded scans: called with
# source, filters, order, position and limit; returns the items and the position to continue from,
# which is None at the end.
Reader = Callable[
    [Source, Given, str, Position | None, int], Awaitable[tuple[list[Item], Position | None]]
]


@dataclass(frozen=True, kw_only=True)
class Listing(Generic[Item, Given]):
    """A list over a table.

    Conditions and orders refer to the table by `alias`. `joins` are applied to the rows of a page
    only, so `columns` may be expensive. With `scan`, a page reads at most that many rows for filters
    without an index; it may then be short, or empty, although more follow.
    """

    name: str
    item: type[Item]
    filters: type[Given]
    orders: Mapping[str, Order]
    table: str = ""
    alias: str = ""
    columns: str = ""
    joins: str = ""
    key: str = "id"
    key_type: str = "bigint"
    only: str = "true"  # a condition on every row
    scan: int | None = None
    make: Callable[[Mapping[str, Any]], Item] | None = None
    reader: Reader[Given, Item] | None = None

    @property
    def default_order(self) -> str:
        """The first one declared."""
        return next(iter(self.orders))

    async def read(
        self,
        source: Source,
        filters: Given,
        *,
        order: str | None = None,
        cursor: str | None = None,
        limit: int = DEFAULT_LIMIT,
    ) -> ListPage[Item]:
        """The next page in an order."""
        order = order or self.default_order
        if order not in self.orders:
            raise UsageError(f"{order} is not an order of {self.name}: {', '.join(self.orders)}.")
        after = self.position_at(filters, order, cursor)
        read = self.reader or self.select
        try:
            items, reached = await read(source, filters, order, after, limit)
        except asyncpg.DataError as error:
            if after is None:
                raise
            raise _foreign_cursor() from error  # a value that is not of the order's type
        following = None if reached is None else self.cursor_at(reached, filters, order)
        return ListPage.model_construct(items=items, next=following)

    async def all(
        self, source: Source, filters: Given, *, order: str | None = None
    ) -> AsyncIterator[Item]:
        """Every item, read page by page."""
        cursor = None
        while True:
            page = await self.read(source, filters, order=order, cursor=cursor, limit=MAX_LIMIT)
            for item in page.items:
                yield item
            if (cursor := page.next) is None:
                return

    async def count(self, source: Source, filters: Given, most: int = MAX_COUNTED) -> int:
        """The number of matches; `most + 1` means more than `most`."""
        condition, values = self.condition(filters)
        found: int = await source.fetchval(
            f"""SELECT count(*)::int FROM (SELECT FROM {self.table} {self.alias}
                 WHERE {condition} LIMIT {most + 1}) x""",
            *values,
        )
        return found

    def condition(self, filters: Given) -> tuple[str, list[Any]]:
        """All conditions as SQL with its parameters, for statements that act on the matches."""
        values = Values()
        found = [*values.conditions(filters, indexed=True), *values.conditions(filters)]
        return all_of([self.only, *found]), values

    async def select(
        self, source: Source, filters: Given, order: str, after: Position | None, limit: int
    ) -> tuple[list[Item], Position | None]:
        """The items after a position, and the position to continue from; None at the end."""
        by, key, values = self.orders[order], f"{self.alias}.{self.key}", Values()
        direction = "DESC" if by.descending else "ASC"
        indexed = values.conditions(filters, indexed=True)
        within = [self.only, by.only, *indexed, *self._beyond(by, after, values)]
        scanned = f"""SELECT {self.alias}.*, {by.sql} AS list_order FROM {self.table} {self.alias}
                 WHERE {all_of(within)} ORDER BY {by.sql} {direction}, {key} {direction}"""
        known = len(values)
        others = values.conditions(filters)
        bound = f"LIMIT {self.scan}" if self.scan and others else ""
        rows = await source.fetch(
            f"""
            SELECT {self.columns}, {self.alias}.list_order::text AS list_order, {key}::text AS list_key
              FROM (SELECT * FROM ({scanned} {bound}) {self.alias} WHERE {all_of(others)}
                     ORDER BY {self.alias}.list_order {direction}, {key} {direction}
                     LIMIT {limit + 1}) {self.alias}
              {self.joins}
             ORDER BY {self.alias}.list_order {direction}, {key} {direction}""",
            *values,
        )
        items = [self._item(row) for row in rows[:limit]]
        if len(rows) > limit:
            return items, Position(rows[limit - 1]["list_order"], rows[limit - 1]["list_key"])
        return items, await self._edge(source, scanned, values[:known]) if bound else None

    def _item(self, row: asyncpg.Record) -> Item:
        found = dict(zip(row.keys(), row.values(), strict=True))  # quicker than dict(row)
        del found["list_order"], found["list_key"]
        return self.make(found) if self.make else self.item(**found)

    def _beyond(self, by: Order, after: Position | None, values: Values) -> list[str]:
        if after is None:
            return []
        value = f"{values.add(after.value)}::text::{by.type}"
        key = f"{values.add(after.key)}::text::{self.key_type}"
        sign = "<" if by.descending else ">"
        return [f"({by.sql}, {self.alias}.{self.key}) {sign} ({value}, {key})"]

    async def _edge(self, source: Source, scanned: str, values: list[Any]) -> Position | None:
        """Where a bounded scan ended; None if it reached the end of the table."""
        assert self.scan is not None
        row = await source.fetchrow(
            f"""SELECT x.list_order::text, x.{self.key}::text
                  FROM ({scanned} OFFSET {self.scan - 1} LIMIT 1) x""",
            *values,
        )
        return None if row is None else Position(*row)

    # A cursor belongs to the list, filters and order it was issued for.

    def _stamp(self, filters: Given, order: str) -> str:
        text = f"{self.name}\n{order}\n{filters!r}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(text).hexdigest()[:12]

    def cursor_at(self, place: Position, filters: Given, order: str | None = None) -> str:
        raw = msgspec.json.encode((self._stamp(filters, order or self.default_order), place))
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")

    def position_at(self, filters: Given, order: str, cursor: str | None) -> Position | None:
        """Where a cursor points; None without one."""
        if cursor is None:
            return None
        try:
            raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            stamp, place = msgspec.json.decode(raw, type=tuple[str, Position])
        except (binascii.Error, msgspec.DecodeError, ValueError) as error:
            raise _foreign_cursor() from error
        if stamp != self._stamp(filters, order):
            raise _foreign_cursor()
        return place


def _foreign_cursor() -> UsageError:
    return UsageError("The cursor is invalid for this list; request the list without a cursor.")


class Values(list[Any]):
    """The parameters of a statement, and the conditions that refer to them."""

    def add(self, value: Any) -> str:
        self.append(value)
        return f"${len(self)}"

    def conditions(
        self, filters: Filters, *, indexed: bool = False, without: Collection[str] = ()
    ) -> list[str]:
        """The conditions of the filters that are given and have an index, or none."""
        found = []
        for name, field in type(filters).model_fields.items():
            value, extra = getattr(filters, name), field.json_schema_extra
            if value is None or name in without or not isinstance(extra, dict):
                continue
            if extra["indexed"] is not indexed:
                continue
            sql: Any = extra["sql"]
            if not sql:  # applied by the list's own query; a value that nothing uses has no type
                continue
            found.append(sql.replace("{}", self.add(value)) if isinstance(sql, str) else sql[value])
        return [condition for condition in found if condition]


def all_of(conditions: Sequence[str]) -> str:
    """The conditions as one."""
    return " AND ".join(f"({one})" for one in conditions) or "true"


def plain_type(annotation: Any) -> Any:
    """The type of a filter without None."""
    if get_origin(annotation) in (Union, UnionType):
        return next(one for one in get_args(annotation) if one is not type(None))
    return annotation


def fault_of(error: ValidationError, *, as_flag: bool = False) -> str:
    """The first fault of some filters, as one sentence."""
    fault = error.errors()[0]
    name = ".".join(str(part) for part in fault["loc"])
    if name and as_flag:
        name = f"--{name.replace('_', '-')}"
    text = str(fault["msg"]).removeprefix("Value error, ").rstrip(".")
    return f"{name}: {text}." if name else f"{text}."
