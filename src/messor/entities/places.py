"""Places: one street address, however it is written and whoever names it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from messor.content.dates import fold
from messor.entities.match import EntityKind, Features, Match, Reading, SourceRecord
from messor.entities.words import letters_of

# Words of streets that are written in several ways.
_SHORT = {
    "street": "st", "strasse": "str", "strase": "str", "avenue": "ave", "av": "ave", "road": "rd", "boulevard": "blvd",
    "drive": "dr", "lane": "ln", "square": "sq", "place": "pl", "court": "ct", "highway": "hwy", "north": "n",
    "south": "s", "east": "e", "west": "w", "suite": "ste", "floor": "fl", "platz": "pl",
}  # fmt: skip
_WORD = re.compile(r"[^\W_]+")
_TOWARDS = re.compile(r"(stra(?:ss|ß)e|str\.?)(?=\s|$|\d)")


def place_of(source: SourceRecord) -> str:
    """A street with its place; empty without both."""
    street = _street(source.text("street"))
    where = letters_of(source.text("postal_code")) or letters_of(source.text("locality"))
    return f"{street}|{where}" if street and where else ""


def _street(text: str) -> str:
    """Words in short forms; a street needs a number."""
    plain = _TOWARDS.sub(" str", fold(text[:200]).replace("ß", "ss"))
    words = [_SHORT.get(word, word) for word in _WORD.findall(plain)]
    return " ".join(sorted(words)) if any(any(map(str.isdigit, word)) for word in words) else ""


def read(source: SourceRecord) -> Reading | None:
    place = place_of(source)
    if not place:
        return None
    street, _, where = place.partition("|")
    town = letters_of(source.text("locality"))
    return Reading(place, {"street": {street}, "where": {where, town} - {""}})


def keys(features: Features) -> Iterable[str]:
    return (f"street:{each}" for each in features["street"])


def compare(one: Features, other: Features) -> Match | None:
    """The same street in another town is another place."""
    if one["where"] & other["where"] and one["street"] & other["street"]:
        return Match(0.97, "address", "the same address")
    return None


PLACE = EntityKind(
    name="place",
    label="Place",
    plural="Places",
    sources=frozenset(("organisation", "contact")),
    read=read,
    keys=keys,
    compare=compare,
    title="street",
    fields=("street", "postal_code", "locality", "region", "country", "phone", "name"),
)
