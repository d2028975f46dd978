"""The generic product parser: structured data, then embedded state, then what people see.

No site is known here. Every source offers candidates to a pool; the surest of each field is taken.
"""

from __future__ import annotations

from messor.extract.page import Page
from messor.extract.products import normalise as _normalise  # noqa: F401  (names its normalisers)
from messor.extract.products.choose import chosen_fields
from messor.extract.products.judge import LEAST, may_sell, product_confidence, published_confidence
from messor.extract.products.likeness import likeness, words_of
from messor.extract.products.numbers import read_numbers
from messor.extract.products.parts import read_images, read_offers, read_variants
from messor.extract.products.pool import Pool
from messor.extract.products.published import (
    Thing,
    offers_of,
    published_things,
    read_meta_fields,
    read_thing,
)
from messor.extract.products.state import read_state
from messor.extract.products.survey import Survey, survey
from messor.extract.products.visible import (
    read_brands,
    read_heading,
    read_labels,
    read_prices,
    read_reviews,
    read_stock,
    read_window,
)
from messor.extract.records import Record
from messor.extract.structured.meta import Meta, read_metas

PARSER = "products"
VERSION = "1"

# Where a price was published for machines, embedded state has nothing to add.
_FOR_MACHINES = ("json_ld", "microdata", "rdfa", "meta")


def read_products(page: Page) -> list[Record]:
    """The page's product, then its offers, variants and images; empty on a page of none."""
    metas = read_metas(page.document)
    found = survey(page, _titles(page, metas))
    things = _main_first(published_things(page), found)
    if not may_sell(things, metas, found):
        return []
    pool = Pool(page)
    if published_confidence(things, found) < LEAST:
        things = []
    else:
        read_thing(pool, things[0], 0.9)
        _hear_variants(pool, things)
    read_meta_fields(pool, metas)
    _read_visible(pool, found)
    if not _is_published(pool, "price"):
        read_state(pool, found)
    fields = chosen_fields(pool)
    confidence = product_confidence(things, metas, found, fields)
    if confidence < LEAST:
        return []
    images = read_images(pool)
    fields.pop("image", None)
    return [
        Record("product", confidence, PARSER, VERSION, fields),
        *(
            Record("product_offer", confidence, PARSER, VERSION, o)
            for o in read_offers(page, things)
        ),
        *(
            Record("product_variant", confidence, PARSER, VERSION, v)
            for v in read_variants(page, things)
        ),
        *(Record("image", confidence, PARSER, VERSION, image) for image in images),
    ]


def _read_visible(pool: Pool, found: Survey) -> None:
    read_heading(pool, found)
    read_prices(pool, found)
    read_labels(pool, found)
    read_brands(pool, found)
    if not (_is_published(pool, "price") and _is_published(pool, "availability")):
        read_window(pool, found)
    read_stock(pool, found)
    read_reviews(pool, found)
    read_numbers(pool, found)


def _is_published(pool: Pool, name: str) -> bool:
    return any(made.evidence.source in _FOR_MACHINES for made in pool.found[name])


def _titles(page: Page, metas: list[Meta]) -> list[str]:
    title = page.document.find("title")
    found = [meta.content for meta in metas if meta.name in ("og:title", "twitter:title")]
    return [*found, title.text if title is not None else ""]


def _main_first(things: list[Thing], found: Survey) -> list[Thing]:
    """Published products, the one the page's heading names first."""

    def score(thing: Thing) -> float:
        alike = likeness(words_of(thing.text("name")), found.title)
        return round(alike, 1) + (0.3 if thing.things("offers") else 0.0)

    return sorted(things, key=score, reverse=True)


def _hear_variants(pool: Pool, things: list[Thing]) -> None:
    """A product is in stock when one of its variants is."""
    own = words_of(things[0].text("name"))
    for thing in things[1:20]:
        if own and words_of(thing.text("name")) == own:
            for offer in offers_of(thing):
                quote = offer.text("availability")
                pool.add("availability", offer.source, quote, 0.89, path=offer.path)
    stated = pool.found["availability"]
    if any(made.value == "in_stock" for made in stated):
        pool.found["availability"] = [made for made in stated if made.value != "out_of_stock"]
