"""Products across shops: by GTIN, by brand and number, by name; variants are kept apart."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

from messor.content.products.normalise import gtin
from messor.entities.match import (
    EntityKind,
    Features,
    Match,
    Reading,
    SourceRecord,
    conflict,
    differ,
    shared,
)
from messor.entities.words import letters_of, name_of, words_of

MAX_PRICE_RATIO = 1.6  # between shops, where names alone agree
# Words for a colour in several languages.
_COLOURS = """
black schwarz noir nero negro|white weiss blanc blanche bianco blanco|red rot rouge rosso rojo|green grun vert verte verde|
blue blau bleu bleue blu azul navy|yellow gelb jaune giallo amarillo|orange|purple violet lila violett viola|pink rosa rose|
brown braun marron marrone|grey gray grau gris grigio anthracite anthrazit|silver silber argento plata argent|
gold golden or oro|beige|ivory cream creme|turquoise turkis|mint|olive|teal|coral|graphite
"""
COLOURS = {
    word: words.split()[0]
    for words in _COLOURS.replace("\n", "").split("|")
    for word in words.split()
}
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
MARKETS = ("eu", "uk", "us", "de", "ch")
# Of two names that agree otherwise, only one with these is about a part, a set or a size.
TELLING = frozenset(
    [
        "lid",
        "case",
        "cover",
        "bag",
        "box",
        "set",
        "kit",
        "bundle",
        "pack",
        "refill",
        "replacement",
        "spare",
        "part",
        "parts",
        "filter",
        "adapter",
        "charger",
        "cable",
        "battery",
        "holder",
        "stand",
        "mount",
        "strap",
        "sleeve",
        "for",
        "fur",
        "pour",
        "per",
        "para",
        "with",
        "without",
        "mit",
        "ohne",
        "mini",
        "micro",
        "nano",
        "plus",
        "pro",
        "max",
        "ultra",
        "lite",
        "light",
        "junior",
        "kids",
        "xl",
        "xxl",
        "xs",
        "small",
        "medium",
        "large",
        "left",
        "right",
        "used",
        "refurbished",
        "renewed",
        "demo",
        "gebraucht",
        "deckel",
        "ersatz",
        "ersatzteil",
        "hulle",
        "tasche",
        "klein",
        "gross",
    ]
)
# What shops add to any name.
EMPTY = frozenset(
    ["the", "a", "an", "of", "and", "by", "new", "neu", "buy", "online", "shop", "original", "genuine", "official", "sale", "offer", "best", "price", "free", "shipping", "der", "die", "das", "und", "von", "kaufen"]
)  # fmt: skip


def read(source: SourceRecord) -> Reading | None:
    title = source.text("product_name")
    if not title:
        return None
    name, brand = name_of(title), letters_of(source.text("brand"))
    own = words_of(source.text("brand"))
    mpn = letters_of(source.text("mpn"))
    colours = {
        COLOURS[word] for word in words_of(source.text("color")) | name.words if word in COLOURS
    }
    features = {
        "gtin": {_gtin(source.text("gtin"))} - {""},
        "brand": {brand} - {""},
        "brand_words": set(own),
        "mpn": {mpn} if len(mpn) >= 3 else set(),
        "numbers": set(name.numbers),
        "name": {" ".join(sorted(name.words - own - EMPTY - COLOURS.keys()))} - {""},
        "measures": set(name.measures),
        "colours": colours,
        "price": {_price(source)} - {""},
    }
    return Reading(f"record:{source.record_id}", features)


def _gtin(text: str) -> str:
    """As fourteen digits; an ISBN of ten digits in its longer form."""
    number = gtin(text) if text else None
    if number is None:
        return ""
    if len(number) == 10:
        core = f"978{number[:9]}"
        total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(core))
        number = f"{core}{-total % 10}"
    return number.zfill(14)


def _price(source: SourceRecord) -> str:
    amount, currency = source.data.get("price"), source.text("currency")
    return f"{currency} {amount}" if isinstance(amount, int | float) and currency else ""


def keys(features: Features) -> Iterable[str]:
    yield from (f"gtin:{each}" for each in features["gtin"])
    brands = features["brand"] | features["brand_words"]
    for number in features["numbers"] | features["mpn"]:
        yield f"number:{number}"
        yield f"number:{number.lstrip(_LETTERS)}"
    for name in features["name"]:
        words = sorted(name.split(), key=lambda word: (-len(word), word))[:4]
        yield from (f"words:{one} {two}" for one, two in _pairs(words))
        yield from (f"brand:{brand} {words[0]}" for brand in brands)


def _pairs(words: list[str]) -> Iterable[tuple[str, str]]:
    ordered = sorted(words)
    return ((one, two) for place, one in enumerate(ordered) for two in ordered[place + 1 :])


def compare(one: Features, other: Features) -> Match | None:
    apart = _contradiction(one, other)
    if apart is not None:
        return apart
    numbers = shared(one, other, "gtin")
    if numbers:
        return Match(1.0, "gtin", f"GTIN {min(numbers).lstrip('0')}")
    by_number = _by_number(one, other)
    return by_number or _by_name(one, other)


def _contradiction(one: Features, other: Features) -> Match | None:
    if shared(one, other, "gtin"):
        return None
    if differ(one, other, "gtin"):
        return conflict("different GTINs")
    for dimension in {each.partition("=")[0] for each in one["measures"]}:
        mine, theirs = (_of(each["measures"], dimension) for each in (one, other))
        if theirs and not mine & theirs:
            return conflict(f"different {dimension}")
    if differ(one, other, "colours"):
        return conflict("different colours")
    if _other_brand(one, other):
        return conflict("different brands")
    return None


def _of(measures: frozenset[str], dimension: str) -> set[str]:
    return {each for each in measures if each.startswith(f"{dimension}=")}


def _other_brand(one: Features, other: Features) -> bool:
    """Both name a brand, and neither names the other's."""
    if not differ(one, other, "brand"):
        return False
    return not any(
        a["brand_words"] and a["brand_words"] <= _all_words(b)
        for a, b in ((one, other), (other, one))
    )


def _all_words(features: Features) -> set[str]:
    return {word for name in features["name"] for word in name.split()} | features["brand_words"]


def _knows_brand(one: Features, other: Features) -> bool:
    """Whether a brand that one names stands in the other as well."""
    return bool(shared(one, other, "brand")) or any(
        a["brand_words"] and a["brand_words"] <= _all_words(b)
        for a, b in ((one, other), (other, one))
    )


def _by_number(one: Features, other: Features) -> Match | None:
    mine, theirs = (each["numbers"] | each["mpn"] for each in (one, other))
    both = {a for a in mine for b in theirs if _is_same_number(a, b)}
    if not both:
        is_apart = bool(one["numbers"]) and bool(other["numbers"])
        return conflict("different numbers") if is_apart else None
    if not _knows_brand(one, other) and not _common_words(one, other):
        return None
    if _telling(one) != _telling(other):
        return conflict("a part, set or size of it")
    if bool(one["colours"]) != bool(other["colours"]):  # of one number there may be several colours
        return Match(
            0.85, "number, colour unsaid", f"number {max(both, key=len)}, one names its colour"
        )
    score = 0.96 if _knows_brand(one, other) else 0.92
    return Match(score, "number", f"number {max(both, key=len)}")


def _is_same_number(one: str, other: str) -> bool:
    """Equal, with a suffix for its market (KX200 and KX200EU), or without letters that stood apart (KX 200B)."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) >= 5 and long.startswith(short):
        return long[len(short) :] in MARKETS
    return len(short) >= 4 and long.endswith(short) and long[: -len(short)].isalpha()


def _common_words(one: Features, other: Features) -> bool:
    return bool(_all_words(one) & _all_words(other))


def _telling(features: Features) -> frozenset[str]:
    return frozenset(_all_words(features) & TELLING)


def _by_name(one: Features, other: Features) -> Match | None:
    """Names alone: all words the same, or all of one in the other with nothing telling beside."""
    if not one["name"] or not other["name"] or _telling(one) != _telling(other):
        return None
    if bool(one["numbers"]) != bool(other["numbers"]) or one["colours"] != other["colours"]:
        ceiling = 0.8  # one says more than the other
    else:
        ceiling = 1.0
    brand = _knows_brand(one, other)
    mine, theirs = (_bare(each, one["brand_words"] | other["brand_words"]) for each in (one, other))
    common, more = mine & theirs, mine ^ theirs
    if len(common) + brand < 3 or not _is_near_in_price(one, other):
        return None
    if not more:
        return Match(min(0.94 if brand else 0.9, ceiling), "name", "the same name")
    if mine < theirs or theirs < mine:
        return Match(
            min(0.91 if brand and len(more) <= len(common) else 0.75, ceiling),
            "part of name",
            "one name within the other",
        )
    if len(common) >= 3 and len(more) <= 2:
        return Match(min(0.7, ceiling), "similar name", "similar names")
    return None


def _bare(features: Features, brand: frozenset[str]) -> set[str]:
    return {word for name in features["name"] for word in name.split()} - brand


def _is_near_in_price(one: Features, other: Features) -> bool:
    """Prices in one currency differ little; without two to compare nothing speaks against it."""
    for mine in one["price"]:
        for theirs in other["price"]:
            (currency, amount), (another, figure) = mine.split(" "), theirs.split(" ")
            if currency != another:
                continue
            try:
                low, high = sorted((Decimal(amount), Decimal(figure)))
            except InvalidOperation:
                continue
            if low <= 0 or high / low > Decimal(str(MAX_PRICE_RATIO)):
                return False
    return True


PRODUCT = EntityKind(
    name="product",
    label="Product",
    plural="Products",
    sources=frozenset(("product",)),
    read=read,
    keys=keys,
    compare=compare,
    title="product_name",
    fields=(
        "product_name", "brand", "mpn", "gtin", "category", "color", "description", "rating", "review_count",
    ),
)  # fmt: skip
