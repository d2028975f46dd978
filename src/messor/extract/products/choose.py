"""Which of a field's candidates is taken.

Candidates that say the same support each other. Article numbers have rules of their own: many
numbers on a page are somebody's, and the product's is the one that people see or that the address
names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import Any

from messor.extract.evidence import Field, make_field
from messor.extract.products.pool import Pool

# Below these a value is more likely wrong than right.
LEAST_PRICE = 0.3
LEAST_SKU = 0.45

_NOT_WORD = re.compile(r"[\W_]+")
_PUBLISHED = ("json_ld", "microdata", "rdfa")
_CODE = re.compile(r"urrency[\w-]{0,10}[\"']?\s{0,3}[:=,]\s{0,3}[\"']([A-Z]{3})[\"']")


def chosen_fields(pool: Pool) -> dict[str, Field]:
    """One value for each field of the product, as far as the page states it."""
    fields: dict[str, Field] = {}
    for name, candidates in pool.found.items():
        best = choose_sku(candidates, pool.page.url) if name == "sku" else agreed(candidates)
        if best is not None:
            fields[name] = best
    price = fields.get("price")
    if price is not None and (price.value == 0 or price.confidence < LEAST_PRICE):
        del fields["price"]
        price = None
    if price is None:
        fields.pop("currency", None)
    else:
        _complete(pool, fields, price)
    return fields


def agreed(candidates: list[Field]) -> Field | None:
    """The value the most sources are the most sure of, by its shortest good quote."""
    groups = _grouped(candidates, lambda value: value)
    if not groups:
        return None

    def support(group: list[Field]) -> float:
        doubt = 1.0
        for sureness in _by_source(group).values():
            doubt *= 1.0 - min(sureness, 0.99)
        return 1.0 - doubt

    group = max(groups.values(), key=support)
    return _backed(group, support(group))


def choose_sku(candidates: list[Field], url: str) -> Field | None:
    """The article number: numbers are compared by their letters and digits alone."""
    address = _key(url)
    groups = _grouped(candidates, _key)

    def score(key: Hashable) -> float:
        group = groups[key]
        sources = _by_source(group)
        best = max(sources.values())
        if "text" in sources and len(str(key)) >= 5 and str(key) in address:
            best = max(best, sources["text"] + 0.2)
        elif len(sources) == 1 and next(iter(sources)) in _PUBLISHED:
            best *= 0.85
        return min(0.99, best + 0.01 * (len(sources) - 1))

    best = max(groups, key=score, default=None)
    if best is None or score(best) < LEAST_SKU:
        return None
    return _backed(groups[best], score(best))


def _key(value: Any) -> str:
    return _NOT_WORD.sub("", str(value)).casefold()


def _grouped(
    candidates: list[Field], key: Callable[[Any], Hashable]
) -> dict[Hashable, list[Field]]:
    groups: dict[Hashable, list[Field]] = defaultdict(list)
    for made in candidates:
        groups[key(made.value)].append(made)
    return groups


def _by_source(group: list[Field]) -> dict[str, float]:
    sources: dict[str, float] = {}
    for made in group:
        source = made.evidence.source
        sources[source] = max(sources.get(source, 0.0), made.confidence)
    return sources


def _backed(group: list[Field], confidence: float) -> Field:
    """The group's value with its best evidence: sure, and short where several are as sure."""
    surest = max(made.confidence for made in group)
    good = [made for made in group if made.confidence >= surest - 0.1]
    best = min(good, key=lambda made: len(made.evidence.quote))
    return Field(best.value, round(confidence, 3), best.evidence)


def _complete(pool: Pool, fields: dict[str, Field], price: Field) -> None:
    """Read the currency from the price's own words, and that a priced thing is offered."""
    evidence = price.evidence
    if "currency" not in fields:
        made = _currency(pool, price)
        if made is not None:
            fields["currency"] = made
    if "availability" not in fields:
        made = make_field(
            evidence.source, "offered", evidence.quote, confidence=0.4, path=evidence.path
        )
        if made is not None:
            fields["availability"] = made


def _currency(pool: Pool, price: Field) -> Field | None:
    """The currency the price is written with, else the one the page's programs name."""
    same = [made for made in pool.found["price"] if made.value == price.value]
    for made in sorted(same, key=lambda made: -made.confidence):
        found = make_field(
            made.evidence.source, "currency", made.evidence.quote,
            confidence=made.confidence, path=made.evidence.path,
        )  # fmt: skip
        if found is not None:
            return found
    match = _CODE.search(pool.page.html)
    if match is None:
        return None
    return make_field("script", "currency", match[1], confidence=0.5, path="currency")
