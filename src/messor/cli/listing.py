"""Lists on the command line: the options of a listing, derived from its declaration.

A list command is decorated with `list_options` and calls `show_list`; filters, orders and limits
are those of the API and the console.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar, get_args, get_origin

import click
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from messor.cli.output import json_option, print_json, print_table, run
from messor.core.terminal import say
from messor.errors import UsageError
from messor.settings import Settings
from messor.store.database import Database
from messor.store.listing import DEFAULT_LIMIT, MAX_LIMIT, Filters, Listing, fault_of, plain_type
from messor.store.session import open_session

Item = TypeVar("Item")
Given = TypeVar("Given", bound=Filters)
Command = TypeVar("Command", bound=Callable[..., Any])

MAX_ROWS = 1_000_000
TIME_FORMATS = ("%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z")


def list_options(
    listing: Listing[Any, Any], *, without: tuple[str, ...] = ()
) -> Callable[[Command], Command]:
    """Add the listing's filters, `--sort`, `--cursor`, `--limit`, `--json` and `-o` to a command.

    Filters in `without` are not offered: arguments of the command give their values.
    """

    def add(command: Command) -> Command:
        command = json_option(command)
        for option in reversed(_paging(listing)):
            command = option(command)
        return filter_options(listing, without=without)(command)

    return add


def filter_options(
    listing: Listing[Any, Any], *, without: tuple[str, ...] = ()
) -> Callable[[Command], Command]:
    """Add the listing's filters alone, to a command that acts on the matches."""

    def add(command: Command) -> Command:
        for name, field in reversed(listing.filters.model_fields.items()):
            if name not in without:
                command = _option(name, field)(command)
        return command

    return add


def _paging(listing: Listing[Any, Any]) -> Sequence[Any]:
    sort = click.option(
        "--sort", "order", type=click.Choice(tuple(listing.orders)),
        default=listing.default_order, show_default=True, help="Order; - is descending.",
    )  # fmt: skip
    cursor = click.option("--cursor", help="Continue from here, as printed by the previous page.")
    limit = click.option(
        "--limit", type=click.IntRange(1, MAX_ROWS), default=DEFAULT_LIMIT, show_default=True,
        help="Maximum number of rows.",
    )  # fmt: skip
    return [sort, cursor, limit]


def _option(name: str, field: FieldInfo) -> Any:
    flag, about = name.replace("_", "-"), f"{field.description}."
    kind = plain_type(field.annotation)
    default = None if field.default is None else str(field.default)
    shown: dict[str, Any] = {"default": default, "show_default": default is not None, "help": about}
    if kind is bool:
        return click.option(f"--{flag}/--no-{flag}", name, default=field.default, help=about)
    if get_origin(kind) is Literal:
        choices = [str(one) for one in get_args(kind)]
        return click.option(f"--{flag}", name, type=click.Choice(choices), **shown)
    types_ = {int: click.INT, float: click.FLOAT, datetime: click.DateTime(TIME_FORMATS)}
    # Text, numbers with a decimal point and ids are parsed by the filter, which explains faults.
    return click.option(f"--{flag}", name, type=types_.get(kind, click.STRING), **shown)


def show_list(
    listing: Listing[Item, Any],
    given: dict[str, Any],
    head: Sequence[str],
    row: Callable[[Item], Sequence[Any]],
    *,
    empty: str,
    check: Callable[[Database], Awaitable[object]] | None = None,
) -> None:
    """Print the list that the options ask for; `empty` is said when nothing matches.

    `check` raises where what the list belongs to does not exist.
    """
    as_json = given.pop("as_json")
    items, following = run(_read(listing, given, check))
    if as_json:
        print_json([_data(item) for item in items])
    elif items:
        print_table(head, [row(item) for item in items])
    else:
        say(empty)
    if following is not None:
        say(f"More follow: repeat the command with --cursor {following}")


async def _read(
    listing: Listing[Item, Any],
    given: dict[str, Any],
    check: Callable[[Database], Awaitable[object]] | None,
) -> tuple[list[Item], str | None]:
    async with open_session(Settings(), pool_size=1) as session:
        if check is not None:
            await check(session.database)
        return await read_list(listing, session.database, given)


async def read_list(
    listing: Listing[Item, Any], database: Database, given: dict[str, Any]
) -> tuple[list[Item], str | None]:
    """Up to `limit` items and the cursor of the next, read page by page."""
    order, cursor, limit = given.pop("order"), given.pop("cursor"), given.pop("limit")
    filters = filters_of(listing, given)
    items: list[Item] = []
    while True:
        size = min(MAX_LIMIT, limit - len(items))
        page = await listing.read(database, filters, order=order, cursor=cursor, limit=size)
        items += page.items
        cursor = page.next
        if cursor is None or len(items) >= limit:
            return items, cursor


def filters_of(listing: Listing[Any, Given], given: Mapping[str, Any]) -> Given:
    """The filters that options give."""
    try:
        return listing.filters.model_validate({name: _aware(one) for name, one in given.items()})
    except ValidationError as error:
        raise UsageError(fault_of(error, as_flag=True)) from error


def _aware(value: Any) -> Any:
    """Times without a zone are UTC."""
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) and not value.tzinfo else value


def _data(item: Any) -> Any:
    return asdict(item) if is_dataclass(item) and not isinstance(item, type) else item


def typed_filters(given: Sequence[str]) -> dict[str, str]:
    """Filters typed as NAME=VALUE."""
    found = {}
    for one in given:
        name, sign, value = one.partition("=")
        if not sign:
            raise UsageError(f"{one[:60]!r} is not a filter such as domain=shop.example.")
        found[name.strip().replace("-", "_")] = value.strip()
    return found
