"""`messor records` and `messor products`: extracted data with evidence and history."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from messor.archive.snapshot_content import read_body
from messor.archive.storage import Archive
from messor.cli.listing import list_options, show_list
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.cli.session import with_database
from messor.errors import NotFoundError
from messor.records import old_products, product_queries, queries
from messor.records.old_products import ArchivedProducts
from messor.records.price_queries import PRICE_CHANGES
from messor.records.product_queries import (
    PRODUCT_PRICES,
    PRODUCTS,
    FullProduct,
    Image,
    ObservedPrice,
    PriceFilter,
    Product,
)
from messor.records.queries import (
    RECORD_CHANGES,
    RECORDS,
    ChangeFilter,
    FullRecord,
    ListedRecord,
    RecordChange,
    RecordField,
)
from messor.settings import Settings
from messor.store.database import Database

RECORD_HEAD = ("id", "kind", "confidence", "state", "parser", "last seen", "data", "url")
PRODUCT_HEAD = (
    "id", "price", "currency", "availability", "sku", "confidence", "updated", "name", "url",
)  # fmt: skip
PRICE_HEAD = ("seen", "price", "currency", "availability", "cause")
CHANGE_HEAD = ("when", "state", "cause", "field", "before", "after")
FIELD_HEAD = ("field", "value", "confidence", "method", "quote")
DETAILS = ("price", "currency", "availability", "brand", "sku", "gtin", "category", "rating",
           "confidence")  # fmt: skip

ID = click.IntRange(1, 2**63 - 1)


@click.group()
def records() -> None:
    """Show extracted records.

    \b
    Example:
      messor records list --domain example.org --kind contact
      messor records show 17
    """


@records.command(name="list")
@list_options(RECORDS)
def list_records(**given: Any) -> None:
    """List records.

    \b
    Example:
      messor records list --kind funding_program --min-confidence 0.8
    """
    show_list(RECORDS, given, RECORD_HEAD, _record_row, empty="No matching records.")


@records.command(name="changes")
@click.argument("record_id", type=ID)
@list_options(RECORD_CHANGES, without=("record_id",))
def list_changes(record_id: int, **given: Any) -> None:
    """List the changes of a record and its fields.

    \b
    Example:
      messor records changes 17
    """
    show_list(
        RECORD_CHANGES,
        {"record_id": record_id, **given},
        CHANGE_HEAD,
        _change_row,
        empty="No changes.",
        check=lambda database: queries.record(database, record_id),
    )


@records.command(name="show")
@click.argument("record_id", type=ID)
@json_option
def show_record(record_id: int, as_json: bool) -> None:
    """Show a record: each field with its evidence, and its history.

    \b
    Example:
      messor records show 17 --json
    """

    async def read(database: Database) -> tuple[FullRecord, list[RecordChange]]:
        found = await queries.record(database, record_id)
        wanted = ChangeFilter(record_id=record_id)
        return found, [change async for change in RECORD_CHANGES.all(database, wanted)][::-1]

    found, history = run(with_database(read))
    if as_json:
        print_json({**asdict(found), "history": [asdict(change) for change in history]})
        return
    emit(f"{found.kind} {found.id}: {found.url}")
    emit(
        f"{found.state}, confidence {found.confidence:.2f}, by {found.parser}"
        f" {found.parser_version}, snapshot {found.snapshot_id}"
    )
    print_table(FIELD_HEAD, [_field_row(name, field) for name, field in found.fields.items()])
    print_table(CHANGE_HEAD, [_change_row(change) for change in history])


@click.group()
def products() -> None:
    """Show extracted products.

    \b
    Example:
      messor products list --domain shop.example --availability in_stock
      messor products show 4
    """


@products.command(name="list")
@list_options(PRODUCTS)
def list_products(**given: Any) -> None:
    """List products.

    Ordering by price or rating lists only products that state it.

    \b
    Example:
      messor products list --q kettle --max-price 50 --currency EUR
      messor products list --domain shop.example --sort price
    """
    show_list(PRODUCTS, given, PRODUCT_HEAD, _product_row, empty="No matching products.")


@products.command(name="archive")
@click.option(
    "--days", type=click.IntRange(1, 36_500), required=True, help="Removed at least so long ago."
)
@click.option("--dry-run", is_flag=True, help="Only count them.")
@json_option
def archive_products(days: int, dry_run: bool, as_json: bool) -> None:
    """Archive products that their sites removed long ago.

    They leave lists, search and exports; analytics keeps them, and one comes back when its page sells
    it again. MESSOR_PRODUCT_ARCHIVE_DAYS has this done every hour.

    \b
    Example:
      messor products archive --days 365 --dry-run
    """
    age = timedelta(days=days)

    async def act(database: Database) -> ArchivedProducts:
        if dry_run:
            return ArchivedProducts(await old_products.count_old(database, age))
        return await old_products.archive(database, age)

    done = run(with_database(act))
    if as_json:
        print_json({"products": done.products, "prices": done.prices, "dry_run": dry_run})
    elif dry_run:
        emit(f"{done.products:,} products would be archived.")
    else:
        emit(f"{done.products:,} products archived, with {done.prices:,} prices.")


@products.command(name="prices")
@click.argument("product_id", type=ID)
@list_options(PRODUCT_PRICES, without=("product_id",))
def list_prices(product_id: int, **given: Any) -> None:
    """List the price history of a product: one row per change of price or availability.

    \b
    Example:
      messor products prices 4
    """
    show_list(
        PRODUCT_PRICES,
        {"product_id": product_id, **given},
        PRICE_HEAD,
        _price_row,
        empty="No prices.",
        check=lambda database: product_queries.product(database, product_id),
    )


@products.command(name="changes")
@list_options(PRICE_CHANGES)
def list_price_changes(**given: Any) -> None:
    """List prices that fell or rose, newest first.

    \b
    Example:
      messor products changes --since 7d --direction fell --min-percent 10
      messor products changes --domain shop.example -o changes.json
    """
    show_list(
        PRICE_CHANGES,
        given,
        ("product", "name", "shop", "seen", "before", "price", "currency", "change", "note"),
        lambda one: (
            one.product_id, one.product_name, one.domain, one.seen_at, one.before, one.price, one.currency,
            "" if one.percent is None else f"{one.percent:+.1f} %", "implausible" if one.is_implausible else "",
        ),
        empty="No price changes match.",
    )  # fmt: skip


@products.command(name="show")
@click.argument("product_id", type=ID)
@json_option
def show_product(product_id: int, as_json: bool) -> None:
    """Show a product with its prices over time and its images.

    \b
    Example:
      messor products show 4
    """

    async def read(database: Database) -> tuple[FullProduct, list[ObservedPrice]]:
        found = await product_queries.product(database, product_id)
        wanted = PriceFilter(product_id=product_id)
        return found, [price async for price in PRODUCT_PRICES.all(database, wanted)][::-1]

    found, prices = run(with_database(read))
    if as_json:
        print_json({**asdict(found), "prices": [asdict(price) for price in prices]})
        return
    emit(f"{found.product_name or '(no name)'}: {found.url}")
    for name in DETAILS:
        if getattr(found, name) is not None:
            emit(f"{name}: {getattr(found, name)}")
    emit(f"{found.state}, changed {found.updated_at:%Y-%m-%d %H:%M}, record {found.record_id}")
    if found.listing_page_id is not None:
        emit(f"known from the list on page {found.listing_page_id}; its own page was not read yet")
    print_table(PRICE_HEAD, [_price_row(price) for price in prices])
    for image in found.images:
        emit(_image_line(image))


@products.command(name="image")
@click.argument("image_id", type=ID)
@click.option("--save", type=click.Path(dir_okay=False, writable=True, path_type=Path),
              help="Write the image to this file.")  # fmt: skip
@json_option
def show_image(image_id: int, save: Path | None, as_json: bool) -> None:
    """Show or save a product image by its id.

    \b
    Example:
      messor products image 12 --save lamp.jpg
    """
    found = run(with_database(lambda database: product_queries.image(database, image_id)))
    if save is not None:
        segment, offset, length = found.segment, found.segment_offset, found.segment_length
        if segment is None or offset is None or length is None:
            raise NotFoundError(f"Image {image_id} was not downloaded, or not kept.")
        save.write_bytes(read_body(Archive.of(Settings()), segment, offset, length))
    if as_json:
        print_json(found)
        return
    emit(_image_line(found))


def _image_line(image: Image) -> str:
    line = f"{image.image_type} {image.id}: {image.image_url}"
    if image.width is not None:
        size = f"{image.width}x{image.height}"
        return f"{line} ({image.media_type}, {size}, {image.file_size} bytes)"
    return f"{line} ({image.refusal})" if image.refusal else line


def _record_row(row: ListedRecord) -> tuple[Any, ...]:
    data = ", ".join(str(value) for value in list(row.data.values())[:3])
    return (
        row.id, row.kind, f"{row.confidence:.2f}", row.state,
        f"{row.parser} {row.parser_version}", row.last_seen, _cut(data), row.url,
    )  # fmt: skip


def _change_row(change: RecordChange) -> tuple[Any, ...]:
    before, after = _cut(change.before), _cut(change.after)
    return change.changed_at, change.state, change.cause, change.field, before, after


def _product_row(row: Product) -> tuple[Any, ...]:
    return (
        row.id, row.price, row.currency, row.availability, row.sku, f"{row.confidence:.2f}", row.updated_at,
        _cut(row.product_name), row.url,
    )  # fmt: skip


def _price_row(price: ObservedPrice) -> tuple[Any, ...]:
    return price.seen_at, price.price, price.currency, price.availability, price.cause


def _field_row(name: str, field: RecordField) -> tuple[Any, ...]:
    confidence = f"{field.confidence or 0:.2f}"
    if field.evidence is None:
        return name, _cut(field.value), confidence, None, None
    return name, _cut(field.value), confidence, field.evidence.method, _cut(field.evidence.quote)


def _cut(value: Any) -> Any:
    """Shorten a value to one line of at most sixty characters; None stays."""
    if value is None:
        return None
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:59]}…"
