"""`messor records` and `messor products`: extracted data with evidence and history."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from messor.archive.snapshot_content import read_body
from messor.cli.domain_session import domain_id_of
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.cli.session import with_database
from messor.core.terminal import say
from messor.errors import NotFoundError
from messor.records import image_rows, lists
from messor.settings import Settings
from messor.store.session import open_session

RECORDS = ("id", "kind", "confidence", "state", "parser", "last seen", "data", "url")
PRODUCTS = ("id", "price", "currency", "availability", "sku", "updated", "name", "url")
PRICES = ("seen", "price", "currency", "availability", "cause")
HISTORY = ("when", "state", "cause", "field", "before", "after")
FIELDS = ("field", "value", "confidence", "method", "quote")

STATE = click.option(
    "--state", type=click.Choice(("current", "removed", "all")), default="current",
    show_default=True, help="Records currently on their page, removed ones, or all.",
)  # fmt: skip
LIMIT = click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 100_000),
                     help="Maximum number of rows.")  # fmt: skip
ID = click.IntRange(1, 2**63 - 1)
AFTER = click.option("--after", default=0, metavar="ID", type=click.IntRange(0, 2**63 - 1),
                     help="Continue after this id.")  # fmt: skip


@click.group()
def records() -> None:
    """Show extracted records.

    \b
    Example:
      messor records list --domain example.org --kind contact
      messor records show 17
    """


@records.command(name="list")
@click.option("--domain", help="Only this domain.")
@click.option("--kind", help="Only this kind: product, contact, offer, event …")
@click.option(
    "--min-confidence",
    "least",
    default=0.0,
    type=click.FloatRange(0, 1),
    help="Minimum confidence, 0 to 1.",
)
@STATE
@AFTER
@LIMIT
@json_option
def list_records(domain: str | None, state: str, as_json: bool, **filters: Any) -> None:
    """List records, oldest first.

    \b
    Example:
      messor records list --kind funding_program --min-confidence 0.8
    """
    rows = run(_listed(lists.records, domain, state, filters))
    if as_json:
        print_json(rows)
    elif rows:
        print_table(RECORDS, [_record_row(row) for row in rows])
    else:
        say("No matching records.")


@records.command(name="show")
@click.argument("record_id", type=ID)
@json_option
def show_record(record_id: int, as_json: bool) -> None:
    """Show a record: each field with its evidence, and its history.

    \b
    Example:
      messor records show 17 --json
    """
    found = run(with_database(lambda database: lists.record(database, record_id)))
    if as_json:
        print_json(found)
        return
    emit(f"{found['kind']} {found['id']}: {found['url']}")
    emit(
        f"{found['state']}, confidence {found['confidence']:.2f}, by {found['parser']}"
        f" {found['parser_version']}, snapshot {found['snapshot_id']}"
    )
    print_table(FIELDS, [_field_row(name, field) for name, field in found["fields"].items()])
    print_table(
        HISTORY, [tuple(_cut(v) for v in list(line.values())[:6]) for line in found["history"]]
    )


@click.group()
def products() -> None:
    """Show extracted products.

    \b
    Example:
      messor products list --domain shop.example --availability in_stock
      messor products show 4
    """


@products.command(name="list")
@click.option("--domain", help="Only this domain.")
@click.option("--availability", help="Only this availability: in_stock, out_of_stock …")
@click.option("--name", help="Only products whose name contains this text.")
@STATE
@AFTER
@LIMIT
@json_option
def list_products(domain: str | None, state: str, as_json: bool, **filters: Any) -> None:
    """List products, oldest first.

    \b
    Example:
      messor products list --name kettle
    """
    rows = run(_listed(lists.products, domain, state, filters))
    if as_json:
        print_json(rows)
    elif rows:
        print_table(PRODUCTS, [_product_row(row) for row in rows])
    else:
        say("No matching products.")


@products.command(name="show")
@click.argument("product_id", type=ID)
@json_option
def show_product(product_id: int, as_json: bool) -> None:
    """Show a product with its prices over time and its images.

    \b
    Example:
      messor products show 4
    """
    found = run(with_database(lambda database: lists.product(database, product_id)))
    if as_json:
        print_json(found)
        return
    emit(f"{found['product_name'] or '(no name)'}: {found['url']}")
    for name in ("price", "currency", "availability", "brand", "sku", "gtin", "category", "rating"):
        if found[name] is not None:
            emit(f"{name}: {found[name]}")
    emit(
        f"{found['state']}, changed {found['updated_at']:%Y-%m-%d %H:%M}, record {found['record_id']}"
    )
    print_table(
        PRICES,
        [
            (line["seen_at"], line["price"], line["currency"], line["availability"], line["cause"])
            for line in found["prices"]
        ],
    )
    for image in found["images"]:
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
    found = run(with_database(lambda database: image_rows.image(database, image_id)))
    if save is not None:
        if found["segment"] is None:
            raise NotFoundError(f"Image {image_id} was not downloaded, or not kept.")
        location = (found["segment"], found["segment_offset"], found["segment_length"])
        save.write_bytes(read_body(Settings().data_dir / "archive", *location))
    if as_json:
        print_json(found)
        return
    emit(_image_line(found))


def _image_line(image: dict[str, Any]) -> str:
    line = f"{image['image_type']} {image['id']}: {image['image_url']}"
    if image["width"] is not None:
        size = f"{image['width']}x{image['height']}"
        return f"{line} ({image['media_type']}, {size}, {image['file_size']} bytes)"
    return f"{line} ({image['refusal']})" if image["refusal"] else line


async def _listed(
    query: Any, domain: str | None, state: str, filters: dict[str, Any]
) -> list[dict[str, Any]]:
    async with open_session(Settings(), pool_size=1) as session:
        filters["domain_id"] = await domain_id_of(session.database, domain)
        filters["state"] = None if state == "all" else state
        found: list[dict[str, Any]] = await query(session.database, **filters)
        return found


def _record_row(row: dict[str, Any]) -> tuple[Any, ...]:
    data = ", ".join(str(value) for value in list(row["data"].values())[:3])
    return (
        row["id"], row["kind"], f"{row['confidence']:.2f}", row["state"],
        f"{row['parser']} {row['parser_version']}", row["last_seen"], _cut(data), row["url"],
    )  # fmt: skip


def _product_row(row: dict[str, Any]) -> tuple[Any, ...]:
    return (
        row["id"], row["price"], row["currency"], row["availability"], row["sku"],
        row["updated_at"], _cut(row["product_name"]), row["url"],
    )  # fmt: skip


def _field_row(name: str, field: dict[str, Any]) -> tuple[Any, ...]:
    evidence = field.get("evidence", {})
    return (
        name, _cut(field["value"]), f"{field.get('confidence', 0):.2f}", evidence.get("method"),
        _cut(evidence.get("quote")),
    )  # fmt: skip


def _cut(value: Any) -> Any:
    """Shorten a value to one line of at most sixty characters; None and times stay."""
    if value is None or hasattr(value, "strftime"):
        return value
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:59]}…"
