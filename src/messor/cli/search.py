"""`messor search`: full-text search over pages and records."""

from __future__ import annotations

from dataclasses import asdict
from decimal import Decimal, InvalidOperation

import click

from messor.cli.domain_session import name_of
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.cli.session import with_database
from messor.core.terminal import say
from messor.errors import UsageError
from messor.insight import search as searching
from messor.insight.full_text import FullText
from messor.insight.search import Facets, Hit, SearchFilters, SearchResults
from messor.settings import Settings
from messor.store.database import Database


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--kind", "kinds", multiple=True, help="Only this kind: page, product, contact …; repeatable."
)
@click.option("--domain", "domains", multiple=True, help="Only this domain; repeatable.")
@click.option("--brand", "brands", multiple=True, help="Only this brand; repeatable.")
@click.option("--category", "categories", multiple=True, help="Only this category; repeatable.")
@click.option("--availability", multiple=True,
              help="Only this availability: in_stock, out_of_stock …; repeatable.")  # fmt: skip
@click.option("--min-price", help="Minimum price.")
@click.option("--max-price", help="Maximum price.")
@click.option("--currency", help="Currency of the prices, such as EUR.")
@click.option("--min-rating", help="Minimum rating.")
@click.option(
    "--min-confidence", help="Minimum confidence of a record, from 0 to 1; pages have none."
)
@click.option("--facets", "with_facets", is_flag=True, help="Count the matches by facet.")
@click.option("--cursor", help="Continue from here, as printed by the previous page.")
@click.option("--limit", type=click.IntRange(1, searching.MOST), default=20, show_default=True,
              help="Maximum number of results.")  # fmt: skip
@json_option
def search(  # noqa: PLR0917 - one for each option
    query: tuple[str, ...],
    kinds: tuple[str, ...],
    domains: tuple[str, ...],
    brands: tuple[str, ...],
    categories: tuple[str, ...],
    availability: tuple[str, ...],
    min_price: str | None,
    max_price: str | None,
    currency: str | None,
    min_rating: str | None,
    min_confidence: str | None,
    with_facets: bool,
    cursor: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """Search pages and records: words, "a phrase", -exclude, this OR that, prefix*.

    \b
    Example:
      messor search laser hair removal --kind page
      messor search '"garden kettle" -electric' --kind product --min-price 10 --max-price 50 --currency EUR
      messor search 'hydra*' --domain example.org --facets --json
    """
    filters = SearchFilters(
        kinds,
        tuple(name_of(domain) for domain in domains),
        brands,
        categories,
        availability,
        _number(min_price, "--min-price"),
        _number(max_price, "--max-price"),
        currency,
        _number(min_rating, "--min-rating"),
        _number(min_confidence, "--min-confidence"),
    )
    typed = " ".join(query)

    async def act(database: Database) -> tuple[SearchResults, Facets | None]:
        async with FullText.of(Settings(), database) as full_text:
            found = await full_text.search(typed, filters, after=cursor, limit=limit)
            return found, await full_text.facets(typed, filters) if with_facets else None

    found, facets = run(with_database(act))
    if as_json:
        print_json(_as_json(found, facets))
        return
    for hit in found.hits:
        _print(hit)
    if facets is not None:
        _print_facets(facets)
    if found.notice:
        say(found.notice)
    if not found.hits:
        say("No results.")
    if found.next:
        say(f"More follow: repeat the command with --cursor {found.next}")


def _number(text: str | None, option: str) -> Decimal | None:
    if text is None:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise UsageError(f"{option} {text!r} is not a number.") from None
    if not number.is_finite():
        raise UsageError(f"{option} {text!r} is not a number.")
    return number


def _as_json(found: SearchResults, facets: Facets | None) -> dict[str, object]:
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
    return {
        "hits": hits,
        "next": found.next,
        "facets": asdict(facets) if facets else None,
        "answered_by": found.answered_by,
        "notice": found.notice,
    }


def _print(hit: Hit) -> None:
    name = hit.kind if hit.record_id is None else f"{hit.kind} {hit.record_id}"
    emit(f"  [{name}]", bold=hit.title or "(no title)")
    emit(f"  {hit.url}")
    for piece in hit.fragments:
        emit("  … " + piece.shown("*", "*"))


def _print_facets(facets: Facets) -> None:
    rows = [(name, value, count) for name, by in facets.by.items() for value, count in by.items()]
    print_table(("facet", "value", "documents"), rows)
    emit(f"{'' if facets.is_exact else 'at least '}{facets.total} documents")
