"""Shops that sell the same goods and describe them each in its own way, with what each thing really is.

The goods have variants, accessories and sets that are easily taken for one another; numbers are
missing or wrong, brands stand in titles or not, and one shop is not in English.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

BRANDS = (
    "Brewster",
    "Holm & Sohn",
    "Nakamura",
    "Vestal",
    "Ostrava Werke",
    "Linden",
    "Pike",
    "Aurelia",
)
FAMILIES = {
    # family: German word, sizes, whether models have numbers
    "Electric Kettle": ("Wasserkocher", ("1 l", "1.5 l", "1.7 l"), True),
    "Stand Mixer": ("Küchenmaschine", ("800 W", "1200 W"), True),
    "Frying Pan": ("Bratpfanne", ("20 cm", "24 cm", "28 cm"), False),
    "Garden Hose": ("Gartenschlauch", ("15 m", "25 m", "50 m"), False),
    "Cordless Drill": ("Akkuschrauber", ("12 V", "18 V"), True),
    "Espresso Beans": ("Espressobohnen", ("250 g", "1 kg"), False),
    "Desk Lamp": ("Schreibtischlampe", ("",), True),
    "Running Socks": ("Laufsocken", ("",), False),
}
SERIES = ("Classic", "Nova", "Alpine", "Heritage", "Studio", "Terra", "Pulse", "Marlow")
COLOURS = (("black", "schwarz"), ("white", "weiß"), ("red", "rot"), ("", ""))
EXTRAS = ("Replacement Lid for", "Carry Bag for", "Filter Set for")


@dataclass(frozen=True)
class Thing:
    """What is really sold."""

    number: int
    brand: str
    family: str
    series: str
    size: str
    colour: tuple[str, str]
    model: str
    gtin: str
    price: float
    extra: str = ""


@dataclass(frozen=True)
class Listed:
    """How a shop lists it."""

    shop: str
    thing: int
    data: dict[str, Any]


def goods(random: Random, lines: int = 40) -> list[Thing]:
    """Lines of a family, brand and series, each in its sizes and a few colours, some with accessories."""
    made: list[Thing] = []
    every = [
        (family, brand, series) for family in FAMILIES for brand in BRANDS for series in SERIES
    ]
    for line, (family, brand, series) in enumerate(random.sample(every, lines)):
        _, sizes, has_model = FAMILIES[family]
        base = round(random.uniform(8, 220), 2)
        stem = f"{brand[0]}{family[0]}".upper()
        for step, size in enumerate(random.sample(sizes, min(len(sizes), 2))):
            for colour in random.sample(COLOURS, random.choice((1, 1, 2))):
                number = len(made)
                model = f"{stem}-{100 + line}{'ABCD'[step]}" if has_model else ""
                price = base * (1 + 0.3 * step)
                made.append(
                    Thing(number, brand, family, series, size, colour, model, gtin(number), price)
                )
        if random.random() < 0.3:
            last = made[-1]
            extra = random.choice(EXTRAS)
            made.append(
                Thing(len(made), brand, family, series, last.size, ("", ""), last.model, gtin(len(made)),
                      base * 0.15, extra)
            )  # fmt: skip
    return made


def gtin(number: int) -> str:
    core = f"40{7_000_000_000 + number * 37:010d}"[:12]
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(core))
    return f"{core}{-total % 10}"


def listings(things: list[Thing], random: Random) -> Iterator[Listed]:
    for shop in (TidyShop(), LoudShop(), TerseShop(), GermanShop()):
        for thing in things:
            if random.random() < shop.share:
                yield Listed(shop.name, thing.number, shop.list(thing, random))


class TidyShop:
    """States everything in structured data."""

    name, share = "tidy.example", 0.8

    def list(self, thing: Thing, random: Random) -> dict[str, Any]:
        parts = (
            thing.extra,
            thing.brand,
            thing.series,
            thing.family,
            thing.model,
            thing.size,
            thing.colour[0],
        )
        data = _data(" ".join(filter(None, parts)), thing, random, brand=thing.brand)
        data["gtin"] = thing.gtin
        if thing.model:
            data["mpn"] = thing.model
        if thing.colour[0]:
            data["color"] = thing.colour[0]
        return data


class LoudShop:
    """Fills its titles, and has numbers of its own."""

    name, share = "loud-deals.example", 0.7

    def list(self, thing: Thing, random: Random) -> dict[str, Any]:
        title = f"{thing.extra} {thing.brand.upper()} {thing.model} {thing.series} {thing.family}".strip()
        if thing.size:
            title += f", {thing.size.replace(' ', '')}"
        if thing.colour[0]:
            title += f" - {thing.colour[0].title()}"
        title += random.choice(("", " | Best Price", " - NEW", " | Free Shipping"))
        data = _data(title, thing, random, brand=thing.brand if random.random() < 0.7 else None)
        data["sku"] = f"LD{random.randrange(10**6):06d}"
        if random.random() < 0.5:
            data["gtin"] = thing.gtin
        return data


class TerseShop:
    """Names little: no brand field, model or size in brackets."""

    name, share = "smallware.example", 0.6

    def list(self, thing: Thing, random: Random) -> dict[str, Any]:
        title = f"{thing.extra} {thing.series} {thing.family} by {thing.brand}".strip()
        if thing.model:
            title += f" ({thing.model.replace('-', ' ') if random.random() < 0.3 else thing.model})"
        title += f" {thing.size}" if thing.size else ""
        title += f" {thing.colour[0]}" if thing.colour[0] else ""
        data = _data(title, thing, random)
        if random.random() < 0.3:
            data["gtin"] = f"{int(thing.gtin) + 1}"  # typed wrong: its check digit is not
        return data


class GermanShop:
    """Another language: only numbers tell."""

    name, share = "haushalt.example", 0.5

    def list(self, thing: Thing, random: Random) -> dict[str, Any]:
        german, _, _ = FAMILIES[thing.family]
        extra = {
            "": "",
            EXTRAS[0]: "Ersatzdeckel für",
            EXTRAS[1]: "Tasche für",
            EXTRAS[2]: "Filterset für",
        }
        parts = (extra[thing.extra], thing.brand, german, thing.series, thing.model, thing.size.replace(".", ","),
                 thing.colour[1])  # fmt: skip
        data = _data(" ".join(filter(None, parts)), thing, random, brand=thing.brand)
        if random.random() < 0.8:
            data["gtin"] = thing.gtin
        if thing.model and random.random() < 0.5:
            data["mpn"] = thing.model.replace("-", "")
        return data


def _data(title: str, thing: Thing, random: Random, brand: str | None = None) -> dict[str, Any]:
    price = round(thing.price * random.uniform(0.88, 1.12), 2)
    data: dict[str, Any] = {"product_name": title, "price": price, "currency": "EUR"}
    if brand:
        data["brand"] = brand
    return data
