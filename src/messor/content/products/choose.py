"""Chooses one of a field's candidates.

Candidates with the same value support each other. Article numbers have their own rules: a page
contains many numbers, and the product's is the one that is visible or in the URL.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import msgspec

from messor.content.evidence import EvidencedField, make_field
from messor.content.products.pool import CandidatePool
from messor.content.products.ranking import Ranking, features_of

# Below these a value is more likely wrong than right.
LEAST_PRICE = 0.3
MIN_SKU = 0.45

_NOT_WORD = re.compile(r"[\W_]+")
_PUBLISHED = ("json_ld", "microdata", "rdfa")
_CODE = re.compile(r"urrency[\w-]{0,10}[\"']?\s{0,3}[:=,]\s{0,3}[\"']([A-Z]{3})[\"']")


class Offer(msgspec.Struct, frozen=True):
    """A value a page offers for a field: all candidates with it, and their combined score."""

    candidates: list[EvidencedField]
    score: float

    @property
    def value(self) -> Any:
        return self.candidates[0].value


def chosen_fields(pool: CandidatePool, ranking: Ranking | None = None) -> dict[str, EvidencedField]:
    """Return one value for each field of the product that the page states."""
    fields: dict[str, EvidencedField] = {}
    for name, candidates in pool.found.items():
        if not candidates:
            continue
        if len(candidates) == 1 and name != "sku":  # a single candidate, as for most fields
            fields[name] = _alone(candidates[0])
            continue
        offers = offered(pool, name)
        minimum = MIN_SKU if name == "sku" else 0.0
        best = preferred(name, offers, ranking)
        if best is not None and offers[best].score >= minimum:
            fields[name] = _backed(offers[best])
    price = fields.get("price")
    if price is not None and (price.value == 0 or price.confidence < LEAST_PRICE):
        del fields["price"]
        price = None
    compared = fields.get("list_price")
    if compared is not None and (price is None or compared.value <= price.value):
        del fields["list_price"]
    if price is None:
        fields.pop("currency", None)
    else:
        _complete(pool, fields, price)
    return fields


def offered(pool: CandidatePool, name: str) -> list[Offer]:
    """Return the values found for a field, in order of discovery."""
    if name != "sku":
        return _offers(pool.found[name])
    numbers = pool.found[name]
    if len(numbers) == 1:
        return [Offer(numbers, _number_score(numbers, pool.page.url))]
    groups: dict[str, list[EvidencedField]] = {}
    for made in numbers:
        groups.setdefault(_key(made.value), []).append(made)
    return [Offer(group, _number_score(group, pool.page.url)) for group in groups.values()]


def agreed(candidates: list[EvidencedField]) -> EvidencedField | None:
    """Return the value with the strongest support, with its shortest good quote."""
    best = max(_offers(candidates), key=lambda offer: offer.score, default=None)
    return None if best is None else _backed(best)


def preferred(name: str, offers: list[Offer], ranking: Ranking | None) -> int | None:
    """Return the index of the chosen offer: the highest score, unless a ranking says otherwise."""
    if len(offers) < 2:
        return 0 if offers else None
    scores = [offer.score for offer in offers]
    if ranking is not None:
        scores = ranking.order(name, described(offers)) or scores
    return scores.index(max(scores))


def described(offers: list[Offer]) -> list[dict[str, float]]:
    """Return the ranking features of the offers."""
    return [
        features_of(
            offer.score, [each.evidence.source for each in offer.candidates], place, len(offers)
        )
        for place, offer in enumerate(offers)
    ]


def _offers(candidates: list[EvidencedField]) -> list[Offer]:
    groups: dict[Hashable, list[EvidencedField]] = {}
    for made in candidates:
        groups.setdefault(made.value, []).append(made)
    return [Offer(group, _support(group)) for group in groups.values()]


def _alone(only: EvidencedField) -> EvidencedField:
    """Return an unsupported value; as a rule it keeps its confidence."""
    sureness = round(1.0 - (1.0 - min(only.confidence, 0.99)), 3)
    if sureness == only.confidence:
        return only
    return EvidencedField(only.value, sureness, only.evidence)


def _support(group: list[EvidencedField]) -> float:
    """Return the combined confidence of sources that agree."""
    if len(group) == 1:
        return 1.0 - (1.0 - min(group[0].confidence, 0.99))
    doubt = 1.0
    for sureness in _by_source(group).values():
        doubt *= 1.0 - min(sureness, 0.99)
    return 1.0 - doubt


def _number_score(group: list[EvidencedField], url: str) -> float:
    """Score an article number: numbers are compared by letters and digits only."""
    sources = _by_source(group)
    best = max(sources.values())
    if "text" in sources and len(key := _key(group[0].value)) >= 5 and key in _key(url):
        best = max(best, sources["text"] + 0.2)
    elif len(sources) == 1 and next(iter(sources)) in _PUBLISHED:
        best *= 0.85
    return min(0.99, best + 0.01 * (len(sources) - 1))


def _key(value: Any) -> str:
    return _NOT_WORD.sub("", str(value)).casefold()


def _by_source(group: list[EvidencedField]) -> dict[str, float]:
    sources: dict[str, float] = {}
    for made in group:
        source = made.evidence.source
        sources[source] = max(sources.get(source, 0.0), made.confidence)
    return sources


def _backed(offer: Offer) -> EvidencedField:
    """Return the value with its best evidence: confident, and short among equals."""
    if len(offer.candidates) == 1:
        best = offer.candidates[0]
        return EvidencedField(best.value, round(offer.score, 3), best.evidence)
    enough = max([made.confidence for made in offer.candidates]) - 0.1
    good = [made for made in offer.candidates if made.confidence >= enough]
    best = min(good, key=_length)
    return EvidencedField(best.value, round(offer.score, 3), best.evidence)


def _length(made: EvidencedField) -> int:
    return len(made.evidence.quote)


def _complete(
    pool: CandidatePool, fields: dict[str, EvidencedField], price: EvidencedField
) -> None:
    """Add the currency from the price's text, and availability of a priced product."""
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


def _currency(pool: CandidatePool, price: EvidencedField) -> EvidencedField | None:
    """Return the currency the price is written with, else the one in structured data."""
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
