"""`messor search`: pages and records by what they say."""

from __future__ import annotations

from dataclasses import asdict
from decimal import Decimal, InvalidOperation

import click

from messor.cli.domain_session import name_of, with_database
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.core.terminal import say
from messor.errors import UsageError
from messor.insight import search as searching
from messor.insight.search import Facets, Filters, Hit, SearchResults
from messor.store.database import Database


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--kind", "kinds", multiple=True, help="page, product, contact …; may be repeated.")
@click.option("--domain", "domains", multiple=True, help="Only of this domain; may be repeated.")
@click.option("--brand", "brands", multiple=True)
@click.option("--category", "categories", multiple=True)
@click.option("--availability", multiple=True, help="in_stock, out_of_stock …")
@click.option("--price", "prices", help="A range: 10..50, 10.. or ..50.")
@click.option("--currency", help="Of these prices, such as EUR.")
@click.option("--rating", help="The least rating.")
@click.option("--facets", "with_facets", is_flag=True, help="Count what answers, by each facet.")
@click.option("--after", help="Go on after this cursor.")
@click.option("--limit", type=click.IntRange(1, searching.MOST), default=20, show_default=True)
@json_option
def search(  # noqa: PLR0917 - one for each option
    query: tuple[str, ...],
    kinds: tuple[str, ...],
    domains: tuple[str, ...],
    brands: tuple[str, ...],
    categories: tuple[str, ...],
    availability: tuple[str, ...],
    prices: str | None,
    currency: str | None,
    rating: str | None,
    with_facets: bool,
    after: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """Find pages and records: words, "a phrase", -without, this OR that, begin*.

    \b
    Example:
      messor search laser hair removal --kind page
      messor search '"garden kettle" -electric' --kind product --price 10..50 --currency EUR
      messor search 'hydra*' --domain example.org --facets --json
    """
    low, high = _range(prices)
    filters = Filters(
        kinds,
        tuple(name_of(domain) for domain in domains),
        brands,
        categories,
        availability,
        low,
        high,
        currency,
        _number(rating, "rating") if rating else None,
    )
    typed = " ".join(query)

    async def act(database: Database) -> tuple[SearchResults, Facets | None]:
        found = await searching.search(database, typed, filters, after=after, limit=limit)
        return found, await searching.facets(database, typed, filters) if with_facets else None

    found, counted = run(with_database(act))
    if as_json:
        print_json(_as_json(found, counted))
        return
    for hit in found.hits:
        _print(hit)
    if counted is not None:
        _print_facets(counted)
    if not found.hits:
        say("Nothing answers this question.")
    if found.next:
        say(f"There is more: --after {found.next}")


def _range(text: str | None) -> tuple[Decimal | None, Decimal | None]:
    if text is None:
        return None, None
    low, dots, high = text.partition("..")
    if not dots or not (low or high):
        raise UsageError(f"A range of prices is 10..50, 10.. or ..50; {text!r} is not.")
    return (_number(low, "price") if low else None), (_number(high, "price") if high else None)


def _number(text: str, what: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise UsageError(f"A {what} is a number; {text!r} is not.") from None
    if not number.is_finite():
        raise UsageError(f"A {what} is a number; {text!r} is not.")
    return number


def _as_json(found: SearchResults, counted: Facets | None) -> dict[str, object]:
    hits = []
    for hit in found.hits:
        row = asdict(hit)
        row["fragments"] = [
            {"text": piece.text, "marks": [list(mark) for mark in piece.marks]}
            for piece in hit.fragments
        ]
        for name in ("price", "rating"):
            row[name] = None if row[name] is None else float(row[name])
        hits.append(row)
    return {"hits": hits, "next": found.next, "facets": asdict(counted) if counted else None}


def _print(hit: Hit) -> None:
    name = hit.kind if hit.record_id is None else f"{hit.kind} {hit.record_id}"
    emit(f"  [{name}]", bold=hit.title or "(no title)")
    emit(f"  {hit.url}")
    for piece in hit.fragments:
        emit("  … " + piece.shown("*", "*"))


def _print_facets(counted: Facets) -> None:
    rows = [(name, value, count) for name, by in counted.by.items() for value, count in by.items()]
    print_table(("facet", "value", "documents"), rows)
    emit(f"{'' if counted.is_exact else 'at least '}{counted.total} documents")
