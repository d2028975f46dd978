"""The parts of a product that are records of their own: offers, variants, images."""

from __future__ import annotations

from messor.extract.evidence import Field
from messor.extract.page import Page
from messor.extract.products.choose import agreed
from messor.extract.products.likeness import words_of
from messor.extract.products.pool import Pool
from messor.extract.products.published import read_offer, read_offering, read_thing
from messor.extract.products.things import Thing

MAX_PARTS = 50
MAX_IMAGES = 20

_OFFER = ("price", "currency", "availability", "sku", "gtin", "seller", "condition", "url")
_VARIANT = (
    "product_name", "sku", "gtin", "mpn", "price", "currency", "availability", "color", "size", "url",
)  # fmt: skip


def read_offers(page: Page, things: list[Thing]) -> list[dict[str, Field]]:
    """The offers of the page's product, when it has several."""
    if not things:
        return []
    offers = [
        o for top in things[0].things("offers", "offer") for o in (top.things("offers") or [top])
    ]
    if len(offers) < 2:
        return []
    found: list[dict[str, Field]] = []
    for offer in offers[:MAX_PARTS]:
        pool = Pool(page)
        read_offer(pool, offer, 0.9)
        read_offering(pool, offer, 0.9)
        pool.add("url", offer.source, offer.text("url"), 0.9, path="Offer.url")
        found.append(_kept(pool, _OFFER))
    return [fields for fields in found if "price" in fields or "availability" in fields]


def read_variants(page: Page, things: list[Thing]) -> list[dict[str, Field]]:
    """The variants of the page's product: those it names, or products of the same name."""
    if not things:
        return []
    variants = things[0].things("hasVariant", "model", "isVariantOf")
    if not variants and len(things) > 1:
        name = words_of(things[0].text("name"))
        same = [t for t in things if name and words_of(t.text("name")) == name]
        variants = same if len(same) > 1 else []
    found: list[dict[str, Field]] = []
    for variant in variants[:MAX_PARTS]:
        pool = Pool(page)
        read_thing(pool, variant, 0.85)
        for trait in ("color", "size"):
            quote, path = variant.name_of(trait), f"{variant.path}.{trait}"
            pool.add(trait, variant.source, quote, 0.85, path=path)
        found.append(_kept(pool, _VARIANT))
    return [fields for fields in found if len(fields) > 1]


def read_images(pool: Pool) -> list[dict[str, Field]]:
    """The product's images, in the order they were found, each once."""
    unique = {made.value: made for made in reversed(pool.found["image"])}
    return [{"url": made} for made in list(reversed(unique.values()))[:MAX_IMAGES]]


def _kept(pool: Pool, names: tuple[str, ...]) -> dict[str, Field]:
    fields: dict[str, Field] = {}
    for name in names:
        best = agreed(pool.found[name])
        if best is not None:
            fields[name] = best
    return fields
