"""What each trade publishes about one of its items: facts for people, JSON-LD for machines.

Values drawn from `steady` never change; values drawn from `fresh` change with the edition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from simweb.chance import Draw

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_SIGNS = {"GBP": "£", "USD": "$"}
_FIRST_DEADLINE = date(2026, 3, 1)


@dataclass(frozen=True, slots=True)
class Item:
    name: str
    url: str
    organisation: str
    currency: str
    edition: int
    steady: Draw
    fresh: Draw

    def price(self, low: int, high: int) -> str:
        """A price that moves by up to a fifth from edition to edition."""
        base = self.steady.randrange(low, high) + self.steady.choice((0.0, 0.5, 0.9, 0.95))
        factor = self.fresh.choice((0.8, 0.85, 0.9, 1.08, 1.15)) if self.edition else 1.0
        return f"{base * factor:.2f}"

    def shown(self, amount: str) -> str:
        """The amount as people of that currency write it."""
        if self.currency == "EUR":
            return f"{amount.replace('.', ',')} €"
        return f"{_SIGNS[self.currency]}{amount}"

    def offer(self, price: str, **more: object) -> dict[str, Any]:
        return {"@type": "Offer", "price": price, "priceCurrency": self.currency, **more}


@dataclass(frozen=True, slots=True)
class Detail:
    facts: tuple[tuple[str, str], ...]
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Trade:
    organisation_type: str
    section: str  # first segment of its items' paths
    describe: Callable[[Item], Detail]


def _thing(kind: str, item: Item, **more: object) -> dict[str, Any]:
    return {
        "@context": "https://schema.org",
        "@type": kind,
        "name": item.name,
        "url": item.url,
        **more,
    }


def _treatment(item: Item) -> Detail:
    price, minutes = item.price(35, 240), item.steady.choice((20, 30, 45, 60))
    facts = (
        ("Price", item.shown(price)),
        ("Duration", f"{minutes} minutes"),
        ("Follow-up", item.steady.choice(("after two weeks", "after six weeks", "none needed"))),
    )
    data = _thing("MedicalProcedure", item, offers=item.offer(price))
    return Detail(facts, data)


def _product(item: Item) -> Detail:
    price = item.price(6, 190)
    stock = item.fresh.choice(("InStock", "InStock", "InStock", "OutOfStock", "PreOrder"))
    sku = f"{item.steady.randrange(10_000, 99_999)}"
    facts = (
        ("Price", item.shown(price)),
        ("Article", sku),
        ("Weight", f"{item.steady.randrange(80, 4_000)} g"),
        ("Availability", {"InStock": "in stock", "OutOfStock": "sold out"}.get(stock, "soon")),
    )
    offer = item.offer(price, availability=f"https://schema.org/{stock}", url=item.url)
    brand = {"@type": "Brand", "name": item.organisation}
    image = f"{item.url.split('/products')[0]}/images/{sku}.png"
    return Detail(facts, _thing("Product", item, sku=sku, brand=brand, image=image, offers=offer))


def _service(item: Item) -> Detail:
    day, hour = item.fresh.choice(_DAYS), item.fresh.randrange(8, 15)
    phone = f"+44 20 7946 0{item.steady.randrange(100, 999)}"
    facts = (
        ("When", f"{day}, {hour}:00 to {hour + 3}:00"),
        ("Who may come", item.steady.choice(("anyone", "families", "residents", "people over 60"))),
        ("Cost", "free"),
        ("Telephone", phone),
    )
    provider = {"@type": "NGO", "name": item.organisation, "telephone": phone}
    return Detail(facts, _thing("Service", item, provider=provider, isAccessibleForFree=True))


def _grant(item: Item) -> Detail:
    amount = item.steady.choice((2_500, 5_000, 10_000, 25_000, 60_000)) * (1 + item.edition % 2)
    deadline = _FIRST_DEADLINE + timedelta(
        days=item.steady.randrange(0, 240), weeks=6 * item.edition
    )
    facts = (
        ("Amount", f"up to {amount:,} {item.currency}"),
        ("Deadline", f"{deadline:%d %B %Y}"),
        ("Who may apply", item.steady.choice(("registered charities", "individuals", "schools"))),
        ("Own share", item.steady.choice(("none", "10 %", "a third"))),
    )
    data = _thing(
        "MonetaryGrant",
        item,
        amount={"@type": "MonetaryAmount", "maxValue": amount, "currency": item.currency},
        endDate=deadline.isoformat(),
        funder={"@type": "Organization", "name": item.organisation},
    )
    return Detail(facts, data)


def _dish(item: Item) -> Detail:
    price = item.price(4, 32)
    diet = item.steady.choice(
        ("vegetarian", "vegan", "contains fish", "contains nuts", "no gluten")
    )
    facts = (("Price", item.shown(price)), ("Good to know", diet))
    return Detail(facts, _thing("MenuItem", item, offers=item.offer(price)))


def _job(item: Item) -> Detail:
    price = item.price(60, 900)
    facts = (
        ("From", item.shown(price)),
        ("Lead time", f"{item.fresh.randrange(1, 9)} weeks"),
        ("Guarantee", f"{item.steady.randrange(1, 5)} years"),
    )
    provider = {"@type": "LocalBusiness", "name": item.organisation}
    return Detail(facts, _thing("Service", item, provider=provider, offers=item.offer(price)))


def _note(item: Item) -> Detail:
    facts = (("Reading time", f"{item.steady.randrange(2, 9)} minutes"),)
    return Detail(facts, _thing("Article", item, headline=item.name))


TRADES = {
    "clinic": Trade("MedicalClinic", "treatments", _treatment),
    "shop": Trade("Store", "products", _product),
    "relief": Trade("NGO", "services", _service),
    "foundation": Trade("FundingAgency", "grants", _grant),
    "restaurant": Trade("Restaurant", "menu", _dish),
    "firm": Trade("LocalBusiness", "services", _job),
    "links": Trade("Organization", "notes", _note),
}
