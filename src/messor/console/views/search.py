"""Search: the query, hits with highlighted words, and facets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import evidence
from messor.console.addresses import with_query
from messor.console.call import ConsoleRequest
from messor.console.screens import get
from messor.errors import UsageError
from messor.insight.search import Facets, Hit, SearchFilters, SearchResults
from messor.registry.domains import Submission

PER_PAGE = 20
WORDS = ("kind", "domain", "brand", "category", "availability")
NAMES = (*WORDS, "currency", "min_price", "max_price", "min_rating", "min_confidence")
FACETS = {
    "kind": "Kind",
    "domain": "Domain",
    "brand": "Brand",
    "category": "Category",
    "availability": "Availability",
    "price": "Price",
    "rating": "Rating",
}
_PRICE = re.compile(r"([A-Z]{3}) (?:under (\d+)|(\d+) to (\d+)|(\d+) and more)")


@dataclass(frozen=True, slots=True)
class FacetChoice:
    """One value of a facet with the link that selects or removes it."""

    label: str
    count: int
    link: str
    is_chosen: bool


async def show(call: ConsoleRequest) -> Response:
    typed, given = call.query("q").strip(), _given(call)
    found, counted, wrong = SearchResults([], None), Facets(0, is_exact=True), None
    if typed:
        try:
            filters = _filters(given)
            after = call.query("cursor") or None
            full_text = call.context.full_text
            found = await full_text.search(typed, filters, after=after, limit=PER_PAGE)
            counted = await full_text.facets(typed, filters)
        except UsageError as error:
            wrong = str(error)

    def link(**changes: Any) -> str:
        return with_query("/search", q=typed, **{**given, **changes})

    return await call.page(
        "search/page.html",
        status=422 if wrong else 200,
        typed=typed,
        given={name: value for name, value in given.items() if value},
        hits=[(hit, place_of(hit), _pieces(hit)) for hit in found.hits],
        counted=counted,
        facets=_facets(counted, given, link),
        more=link(cursor=found.next) if found.next else None,
        first=link() if call.query("cursor") else None,
        link=link,
        wrong=wrong,
        notice=found.notice,
        has_server=call.context.settings.search_server_url is not None,
    )


def _given(call: ConsoleRequest) -> dict[str, str]:
    given = {name: call.query(name).strip()[:300] for name in NAMES}
    return given | {"domain": _domain(call)}


def _domain(call: ConsoleRequest) -> str:
    """The domain of a name, host or URL; otherwise the text as typed."""
    typed = call.query("domain").strip()[:2_000]
    try:
        return Submission.understand(typed).domain
    except UsageError:
        return typed.lower()[:253]


def _filters(given: dict[str, str]) -> SearchFilters:
    lists = [(given[name],) if given[name] else () for name in WORDS]
    kinds, domains, brands, categories, availability = lists
    return SearchFilters(
        kinds,
        domains,
        brands,
        categories,
        availability,
        _figure(given["min_price"], "Minimum price"),
        _figure(given["max_price"], "Maximum price"),
        given["currency"] or None,
        _figure(given["min_rating"], "Minimum rating"),
        _figure(given["min_confidence"], "Minimum confidence"),
    )


def _figure(typed: str, label: str) -> Decimal | None:
    """Parse a decimal number; None for an empty field."""
    if not typed:
        return None
    try:
        number = Decimal(typed.replace(",", "."))
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or not 0 <= number < 10**15 or len(typed) > 20:
        raise UsageError(f"{label}: {typed[:50]!r} is not a number such as 19.90.")
    return number


def _facets(
    counted: Facets, given: dict[str, str], link: Any
) -> list[tuple[str, list[FacetChoice]]]:
    """Facets that can narrow the results or are selected."""
    made = []
    for name, label in FACETS.items():
        values = counted.by.get(name, {})
        if name == "price":
            choices = _prices(values, given, link)
        elif name == "rating":
            choices = _ratings(values, given, link)
        else:
            choices = [
                FacetChoice(
                    value.replace("_", " "),
                    count,
                    link(**{name: "" if given[name] == value else value}),
                    given[name] == value,
                )
                for value, count in values.items()
            ]
        if len(choices) > 1 or any(one.is_chosen for one in choices):
            made.append((label, choices))
    return made


def _prices(values: dict[str, int], given: dict[str, str], link: Any) -> list[FacetChoice]:
    choices = []
    for label, count in values.items():
        found = _PRICE.fullmatch(label)
        if found is None:  # without a currency a price cannot be compared
            continue
        currency, under, low, high, least = found.groups()
        wanted = {
            "currency": currency,
            "min_price": low or least or "",
            "max_price": under or high or "",
        }
        is_chosen = all(given[name] == value for name, value in wanted.items())
        to = dict.fromkeys(wanted, "") if is_chosen else wanted
        choices.append(FacetChoice(label, count, link(**to), is_chosen))
    return choices


def _ratings(values: dict[str, int], given: dict[str, str], link: Any) -> list[FacetChoice]:
    """Each rating includes all higher ones."""
    choices, above = [], 0
    for value in sorted(values, key=int, reverse=True):
        above += values[value]
        is_chosen = given["min_rating"] == value
        to = "" if is_chosen else value
        choices.append(FacetChoice(f"{value} and more", above, link(min_rating=to), is_chosen))
    return choices


def place_of(hit: Hit) -> str:
    """URL of a hit: the record, or the snapshot scrolled to the first match."""
    if hit.record_id is not None:
        return f"/records/{hit.record_id}"
    marked = [piece.text[slice(*piece.marks[0])] for piece in hit.fragments if piece.marks]
    where = f"/pages/{hit.page_id}/snapshots/{hit.snapshot_id}"
    return where + (evidence.text_fragment(marked[0]) if marked else "")


def _pieces(hit: Hit) -> list[list[tuple[str, bool]]]:
    """The fragments of a hit as (text, is_match) pieces."""
    texts = []
    for fragment in hit.fragments:
        pieces, last = [], 0
        for begin, end in fragment.marks:
            pieces += [(fragment.text[last:begin], False), (fragment.text[begin:end], True)]
            last = end
        texts.append([*pieces, (fragment.text[last:], False)])
    return texts


SCREENS = (get("/search", Act.READ, show),)
