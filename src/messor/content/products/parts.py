"""Parts of a product that are separate records: offers, variants, images."""

from __future__ import annotations

import re

from turbohtml import Element

from messor.content.evidence import EvidencedField, make_field
from messor.content.page import ParsedPage
from messor.content.products.choose import agreed
from messor.content.products.headings import likeness, words_of
from messor.content.products.pool import CandidatePool
from messor.content.products.published import read_offer, read_offering, read_thing
from messor.content.products.things import PublishedThing

MAX_PARTS = 50
MAX_IMAGES = 20
MAX_IMG_ELEMENTS = 200
_ALIKE = 0.6  # share of a name's words for a text to count as naming it
_TELLING = 7  # characters of a file name that is unique enough
_FILE = re.compile(r"\.(?:jpe?g|png|webp|avif|gif)(?:[?#]|$)", re.IGNORECASE)
_IMAGE = re.compile(rf"^#|{_FILE.pattern}", re.IGNORECASE)
_LATE = ("data-src", "data-original", "data-lazy-src")

_OFFER = ("price", "currency", "availability", "sku", "gtin", "seller", "condition", "url")
_VARIANT = (
    "product_name", "sku", "gtin", "mpn", "price", "currency", "availability", "color", "size", "url",
)  # fmt: skip


def read_offers(page: ParsedPage, things: list[PublishedThing]) -> list[dict[str, EvidencedField]]:
    """Return the offers of the page's product, if it has several."""
    if not things:
        return []
    offers = [
        o for top in things[0].things("offers", "offer") for o in (top.things("offers") or [top])
    ]
    if len(offers) < 2:
        return []
    found: list[dict[str, EvidencedField]] = []
    for offer in offers[:MAX_PARTS]:
        pool = CandidatePool(page)
        read_offer(pool, offer, 0.9)
        read_offering(pool, offer, 0.9)
        pool.add("url", offer.source, offer.text("url"), 0.9, path="Offer.url")
        found.append(_kept(pool, _OFFER))
    return [fields for fields in found if "price" in fields or "availability" in fields]


def take_numbers_of_offer(
    fields: dict[str, EvidencedField], offers: list[dict[str, EvidencedField]]
) -> None:
    """Take numbers of an offer from one that has the product's price."""
    price = fields.get("price")
    if price is None:
        return
    same_price = [own for own in offers if "price" in own and own["price"].value == price.value]
    for name in ("sku", "gtin"):
        number = fields.get(name)
        evidence = [own[name].evidence for own in offers if name in own]
        if number is None or number.evidence not in evidence:
            continue
        fitting = [own[name] for own in same_price if name in own]
        if fitting and all(number.value != each.value for each in fitting):
            fields[name] = fitting[0]


def read_variants(
    page: ParsedPage, things: list[PublishedThing]
) -> list[dict[str, EvidencedField]]:
    """Return the variants of the page's product: those it lists, or products of the same name."""
    if not things:
        return []
    variants = things[0].things("hasVariant", "model", "isVariantOf")
    if not variants and len(things) > 1:
        name = words_of(things[0].text("name"))
        same = [t for t in things if name and words_of(t.text("name")) == name]
        variants = same if len(same) > 1 else []
    found: list[dict[str, EvidencedField]] = []
    for variant in variants[:MAX_PARTS]:
        pool = CandidatePool(page)
        read_thing(pool, variant, 0.85)
        for trait in ("color", "size"):
            quote, path = variant.name_of(trait), f"{variant.path}.{trait}"
            pool.add(trait, variant.source, quote, 0.85, path=path)
        found.append(_kept(pool, _VARIANT))
    return [fields for fields in found if len(fields) > 1]


def read_images(pool: CandidatePool, title: frozenset[str]) -> list[dict[str, EvidencedField]]:
    """Return the product's distinct images in order of discovery, with their alternative texts.

    If none is published, those whose alternative text names the product are used.
    """
    elements = pool.page.document.select("img[alt]")[:MAX_IMG_ELEMENTS]
    if not pool.found["image"]:
        for element in _named_after(elements, title):
            _add_shown(pool, element)
    unique = {made.value: made for made in reversed(pool.found["image"])}
    images = [{"url": made} for made in list(reversed(unique.values()))[:MAX_IMAGES]]
    by_file = {
        _file(element.attr(_place(element)) or ""): element for element in reversed(elements)
    }
    for image in images:
        small = pool.thumbnails.get(image["url"].value)
        if small is not None:
            image["thumbnail"] = small
        beside = by_file.get(_file(image["url"].value))
        if beside is None and small is not None:
            beside = by_file.get(_file(small.value))
        if beside is not None and any(map(str.isalpha, beside.attr("alt") or "")):
            quote = pool.page.attribute(beside, "alt")
            alt = make_field("html", "text", quote, confidence=0.7, path="img@alt")
            if alt is not None:
                image["alt"] = alt
    return images


def _add_shown(pool: CandidatePool, element: Element) -> None:
    """Add an image; one inside a link to an image file is that file's thumbnail."""
    shown = pool.page.attribute(element, _place(element))
    link = element.closest("a[href]")
    if link is None or not _FILE.search(link.attr("href") or ""):
        pool.add("image", "html", shown, 0.5, path="img")
        return
    image = pool.add("image", "html", pool.page.attribute(link, "href"), 0.5, path="a@href")
    pool.add_thumbnail(image, "html", shown, "img")


def _named_after(elements: list[Element], title: frozenset[str]) -> list[Element]:
    """Return the images with the first text that names the product; images in links belong to the
    link's target.
    """
    named = ""
    found = []
    for element in elements:
        alt = element.attr("alt") or ""
        if not alt or (alt != named and (named or not _names(words_of(alt), title))):
            continue
        link = element.closest("a[href]")
        if link is None or _IMAGE.search(link.attr("href") or ""):
            named = alt
            found.append(element)
    return found


def _names(words: frozenset[str], title: frozenset[str]) -> bool:
    """Whether words name the product: a single word may be its brand."""
    return words == title or (len(words & title) > 1 and likeness(words, title) >= _ALIKE)


def _place(element: Element) -> str:
    """Return the attribute with an image's URL; lazy-loaded images have a placeholder in src."""
    return next((name for name in _LATE if element.attr(name)), "src")


def _file(url: str) -> str:
    """Return the file name, which is the same in all sizes; the whole path if it is too short."""
    path = url.partition("?")[0].partition("#")[0].partition("//")[2] or url
    name = path.rpartition("/")[2]
    return name if len(name.partition(".")[0]) >= _TELLING else path


def _kept(pool: CandidatePool, names: tuple[str, ...]) -> dict[str, EvidencedField]:
    fields: dict[str, EvidencedField] = {}
    for name in names:
        best = agreed(pool.found[name])
        if best is not None:
            fields[name] = best
    return fields
