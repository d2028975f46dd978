"""The generic product parser: structured data, then embedded state, then visible content.

It has no site-specific rules. Every source adds candidates to a pool; the best of each field is
chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from messor.content.evidence import EvidencedField
from messor.content.page import ParsedPage
from messor.content.products import listed
from messor.content.products import normalise as _normalise  # noqa: F401  (registers its normalisers)
from messor.content.products.choose import chosen_fields
from messor.content.products.headings import likeness, words_of
from messor.content.products.judge import (
    MIN_CONFIDENCE,
    OFFERED,
    is_article,
    is_list,
    is_published_article,
    may_sell,
    product_confidence,
    published_confidence,
)
from messor.content.products.numbers import read_numbers
from messor.content.products.parts import (
    read_images,
    read_offers,
    read_variants,
    take_numbers_of_offer,
)
from messor.content.products.pool import CandidatePool
from messor.content.products.published import read_meta_fields, read_thing
from messor.content.products.ranking import Ranking
from messor.content.products.state import read_state
from messor.content.products.survey import Survey
from messor.content.products.things import (
    Meta,
    PublishedThing,
    offers_of,
    published_things,
    read_metas,
)
from messor.content.products.visible import (
    read_brands,
    read_heading,
    read_labels,
    read_price_lines,
    read_prices,
    read_reviews,
    read_stock,
    read_stock_lines,
)
from messor.content.records import Record

PARSER = "products"
VERSION = "1"
KINDS = frozenset(("product", "product_offer", "product_variant", "image", listed.KIND))

# If a price is in structured data, embedded state adds nothing.
_FOR_MACHINES = ("json_ld:", "microdata:", "rdfa:", "meta:")
# Higher than any visible price, brand or rating can score.
_SETTLED = 0.85


class Gathered(NamedTuple):
    """All candidates of a page's product, before any is chosen."""

    pool: CandidatePool
    things: list[PublishedThing]  # published products of this page, the main one first
    others: list[PublishedThing]  # published products if none of them is this page's
    published: float  # confidence that they are this page's
    metas: list[Meta]
    found: Survey


def gather(page: ParsedPage, *, whole: bool = True) -> Gathered | None:
    """Collect the candidates for each field; None if nothing hints at a product.

    Unless `whole`, visible values are skipped if published ones have a confidence they cannot
    reach.
    """
    metas = read_metas(page.document)
    found = Survey(page, _titles(page, metas))
    things = _main_first(published_things(page), found)
    if not may_sell(things, metas, found):
        return None
    pool = CandidatePool(page)
    published = published_confidence(things, found)
    others: list[PublishedThing] = []
    if published < MIN_CONFIDENCE:
        things, others, published = [], things, 0.0
    else:
        read_thing(pool, things[0], 0.9)
        _add_variant_stock(pool, things)
    read_meta_fields(pool, metas)
    found.has_cards = not _is_published(pool, "price")
    _read_visible(pool, found, whole=whole)
    if not _is_published(pool, "price"):
        read_state(pool, found)
    return Gathered(pool, things, others, published, metas, found)


def read_products(
    page: ParsedPage,
    *,
    ranking: Ranking | None = None,
    version: str = VERSION,
    kinds: AbstractSet[str] = KINDS,
) -> list[Record]:
    """Return the page's product, then its offers, variants and images; empty if it has none.

    Only the given `kinds` are returned.
    """
    gathered = gather(page, whole=ranking is not None)
    if gathered is None:
        return []
    pool, things = gathered.pool, gathered.things
    fields = chosen_fields(pool, ranking)
    confidence = product_confidence(gathered.published, gathered.metas, gathered.found, fields)
    is_listing = gathered.published < OFFERED and is_list(gathered.found, gathered.others, fields)
    if confidence < MIN_CONFIDENCE or is_listing:
        return _listed(page, gathered, version) if listed.KIND in kinds else []
    found: list[tuple[str, dict[str, EvidencedField]]] = []
    offers = read_offers(page, things)
    take_numbers_of_offer(fields, offers)
    # Without a price or number it is a page with offers, not a product.
    is_product = listed.is_product(fields)
    images = read_images(pool, gathered.found.title) if is_product and "image" in kinds else []
    for name in ("image", "thumbnail"):  # records of their own
        fields.pop(name, None)
    if is_product and "product" in kinds:
        found.append(("product", fields))
    if "product_offer" in kinds:
        found += [("product_offer", own) for own in offers]
    if "product_variant" in kinds:
        found += [("product_variant", own) for own in read_variants(page, things)]
    found += [("image", own) for own in images]
    return [Record(kind, confidence, PARSER, version, own) for kind, own in found]


def _listed(page: ParsedPage, gathered: Gathered, version: str) -> list[Record]:
    """Return the products that a page lists, if it is about none of its own."""
    if is_article(gathered.metas) or is_published_article(page):
        return []  # adverts
    made = listed.read_listed(page, [*gathered.things, *gathered.others], gathered.found)
    return [Record(listed.KIND, sure, PARSER, version, fields) for sure, fields in made]


def _read_visible(pool: CandidatePool, found: Survey, *, whole: bool) -> None:
    needs_price = whole or not (_is_settled(pool, "price") and _is_published(pool, "currency"))
    needs_brand = whole or not _is_settled(pool, "brand")
    needs_reviews = whole or not (_is_settled(pool, "rating") and _is_settled(pool, "review_count"))
    if _needs_lines(pool.found):
        found.expect_notes()
    found.wants_prices = needs_price
    read_heading(pool, found)
    if needs_price:
        read_prices(pool, found)
    read_labels(pool, found)
    if needs_brand:
        read_brands(pool, found)
    if not (_is_published(pool, "price") and _is_published(pool, "availability")):
        if needs_price:
            read_price_lines(pool, found)
        read_stock_lines(pool, found, whole=whole)
    read_stock(pool, found)
    if needs_reviews:
        read_reviews(pool, found)
    read_numbers(pool, found)


def _needs_lines(found: Mapping[str, list[EvidencedField]]) -> bool:
    """Whether lines will be read; checked first, so that the order of the fields is unchanged."""
    stated = found.get("price", ()), found.get("availability", ())
    return not all(any(map(_is_for_machines, candidates)) for candidates in stated)


def _is_published(pool: CandidatePool, name: str) -> bool:
    return any(map(_is_for_machines, pool.found[name]))


def _is_for_machines(made: EvidencedField) -> bool:
    return made.evidence.method.startswith(_FOR_MACHINES)


def _is_settled(pool: CandidatePool, name: str) -> bool:
    """Whether one value is published with a confidence no visible one can reach."""
    published = pool.found[name]
    return (
        bool(published)
        and len({made.value for made in published}) == 1
        and max(made.confidence for made in published) >= _SETTLED
    )


def _titles(page: ParsedPage, metas: list[Meta]) -> list[str]:
    title = page.document.find("title")
    found = [meta.content for meta in metas if meta.name in ("og:title", "twitter:title")]
    return [*found, title.text if title is not None else ""]


def _main_first(things: list[PublishedThing], found: Survey) -> list[PublishedThing]:
    """Return published products, the one named by the page's heading first."""
    if len(things) < 2:
        return things

    def score(thing: PublishedThing) -> float:
        alike = likeness(words_of(thing.text("name")), found.title)
        return round(alike, 1) + (0.3 if thing.things("offers") else 0.0)

    return sorted(things, key=score, reverse=True)


def _add_variant_stock(pool: CandidatePool, things: list[PublishedThing]) -> None:
    """Mark a product as in stock if one of its variants is."""
    own = words_of(things[0].text("name")) if len(things) > 1 else frozenset()
    for thing in things[1:20]:
        if own and words_of(thing.text("name")) == own:
            for offer in offers_of(thing):
                quote = offer.text("availability")
                pool.add("availability", offer.source, quote, 0.89, path=offer.path)
    stated = pool.found["availability"]
    if any(made.value == "in_stock" for made in stated):
        pool.found["availability"] = [made for made in stated if made.value != "out_of_stock"]
