"""Pages that were seen at some time, read by the real parsers and stored with all that follows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from messor.insight.search_index import index_waiting
from messor.parsers import Parser, Parsers, trials
from messor.parsers.page_findings import FoundPage, found_page
from messor.parsers.page_reading import read_records
from messor.records import listed_rows, product_rows, store
from messor.records.changes import Sighting
from messor.registry.domains import Domain
from messor.store.database import Database
from tests.console import seeding
from tests.crawling import admit

WORDS = "Made of copper by hand, it boils water in three minutes and keeps it warm for an hour. "


def product_html(
    name: str = "Copper kettle",
    price: str | None = "49.90",
    *,
    stock: str = "InStock",
    brand: str = "Acme",
    category: str = "Kitchen > Kettles",
    rating: float = 4.5,
    currency: str = "EUR",
    sku: str = "K-100",
    variants: Sequence[tuple[str, str]] = (),
    sellers: Sequence[tuple[str, str]] = (),
) -> str:
    """A shop's page as shops write them: what is for sale stands in its structured data."""
    offers: list[dict[str, Any]] = [
        {
            "@type": "Offer",
            "price": cost,
            "priceCurrency": currency,
            "availability": f"https://schema.org/{stock}",
            "seller": {"@type": "Organization", "name": seller},
        }
        for seller, cost in sellers
    ]
    if not offers and price is not None:
        offers = [
            {
                "@type": "Offer",
                "price": price,
                "priceCurrency": currency,
                "availability": f"https://schema.org/{stock}",
            }
        ]
    data = {
        "@context": "https://schema.org",
        "@type": "ProductGroup" if variants else "Product",
        "name": name,
        "sku": sku,
        "brand": {"@type": "Brand", "name": brand},
        "category": category,
        "description": WORDS,
        "image": [f"/{sku}.jpg", f"/{sku}-side.jpg"],
        "aggregateRating": {"@type": "AggregateRating", "ratingValue": rating, "reviewCount": 128},
        "offers": offers[0] if len(offers) == 1 else offers,
        "hasVariant": [
            {
                "@type": "Product",
                "name": f"{name}, {size}",
                "size": size,
                "sku": f"{sku}-{number}",
                "offers": {"@type": "Offer", "price": cost, "priceCurrency": currency},
            }
            for number, (size, cost) in enumerate(variants)
        ],
    }
    text = json.dumps(data).replace("</", "<\\/")
    return (
        f"<!doctype html><html lang=en><title>{name}</title><h1>{name}</h1>"
        f"<p>{WORDS * 6}</p><script type='application/ld+json'>{text}</script></html>"
    )


def contact_html(name: str = "The Kettle Shop", email: str = "hello@shop.example") -> str:
    return (
        f"<!doctype html><html lang=en><title>Contact {name}</title><h1>Contact</h1>"
        f"<p>Write to <a href='mailto:{email}'>{email}</a> or call +49 30 901820.</p>"
        f"<p>{WORDS * 4}</p>"
        "<h2>Is it safe?</h2><p>Yes, it turns itself off when the water boils.</p></html>"
    )


@dataclass
class Harvest:
    """A domain whose pages are seen and read, time after time."""

    database: Database
    domain: Domain
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    _pages: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.domain.domain

    async def see(
        self,
        path: str,
        html: str | None,
        ago: timedelta = timedelta(),
        *,
        parsers: Sequence[Parser] | None = None,
        cause: str = "page",
    ) -> int:
        """See a page so long ago; None: it was gone. Answers its id."""
        url = f"https://{self.name}{path}"
        if path not in self._pages:
            self._pages[path] = await seeding.add_page(self.database, self.domain, url)
        page_id = self._pages[path]
        found, snapshot_id = None, None
        if html is not None:
            chosen = None if parsers is None else Parsers(parsers)
            found = found_page(read_records(html, url, parsers=chosen))
            title, text = found.headline or path, found.markdown or html
            text = f"{text}\n\nSeen {(self.now - ago).isoformat()}"
            snapshot_id = await seeding.add_snapshot(self.database, page_id, title, text, ago)
        await self.store(page_id, snapshot_id, found, self.now - ago, cause)
        return page_id

    async def store(
        self,
        page_id: int,
        snapshot_id: int | None,
        found: FoundPage | None,
        seen_at: datetime,
        cause: str = "page",
    ) -> None:
        url = await self.database.fetchval("SELECT url FROM messor.pages WHERE id = $1", page_id)
        key = sha256(url.encode()).digest()
        sighting = Sighting(page_id, snapshot_id, self.domain.id, url, key, seen_at, cause)
        async with self.database.transaction() as connection:
            outcomes = await store.store(connection, [(sighting, found)])
            await product_rows.store(connection, outcomes)
            await listed_rows.store(connection, outcomes)

    async def index(self) -> None:
        """Let what was stored be found."""
        async with self.database.transaction() as connection:
            await index_waiting(connection, 10_000)

    async def record_id(self, kind: str, path: str) -> int:
        found: int = await self.database.fetchval(
            "SELECT id FROM messor.records WHERE kind = $1 AND page_id = $2 ORDER BY id LIMIT 1",
            kind,
            self._pages[path],
        )
        return found

    async def product_id(self, path: str) -> int:
        found: int = await self.database.fetchval(
            "SELECT id FROM messor.products WHERE page_id = $1", self._pages[path]
        )
        return found


async def open_harvest(database: Database, name: str = "shop.example") -> Harvest:
    return Harvest(database, await admit(database, name))


async def stock_shop(database: Database, name: str = "shop.example") -> Harvest:
    """A shop with a product whose price moved, one with offers and variants, and a contact page."""
    shop = await open_harvest(database, name)
    for days, price in ((40, "59.90"), (25, "54.90"), (12, "64.90"), (2, "49.90")):
        await shop.see("/kettle", product_html(price=price), timedelta(days=days))
    sellers = (("Tea & Co", "19.90"), ("Porcelain Works", "21.50"))
    variants = (("small", "19.90"), ("large", "29.90"))
    pot = {"brand": "Zeta", "category": "Kitchen > Pots", "rating": 3.2, "sku": "P-7"}
    html = product_html("Tea pot", "19.90", stock="OutOfStock", sellers=sellers, **pot)  # type: ignore[arg-type]
    await shop.see("/pot", html, timedelta(days=3))
    cup = product_html("Cup", "9.90", brand="Zeta", sku="C-1", rating=4.9, variants=variants)
    await shop.see("/cup", cup, timedelta(days=1))
    await shop.see("/contact", contact_html(), timedelta(days=5))
    await shop.index()
    return shop


async def add_trial(
    database: Database, parser: str = "products", version: str = "1", **report: Any
) -> str:
    """A comparison as `extraction.compare` reports it."""
    fields = {
        "product.price": {
            "same": 90, "different": 6, "gained": 3, "lost": 1, "agreement": 0.9375,
            "invalid": 1, "invalid_before": 3,
        },
        "product.brand": {
            "same": 40, "different": 0, "gained": 20, "lost": 0, "agreement": 1.0,
            "invalid": 0, "invalid_before": 0,
        },
    }  # fmt: skip
    whole = {
        "pages": 100, "unreadable": 2, "rejected": 4, "gained": 3, "lost": 1, "fields": fields,
        "domains": {"shop.example": {"pages": 100, "fields": fields}}, "more_domains": 0,
        "examples": [
            {"url": "https://shop.example/kettle", "field": "product.price", "stored": 49.9,
             "candidate": 59.9}
        ],
        **report,
    }  # fmt: skip
    async with database.transaction() as connection:
        made = await trials.add(connection, parser, version, whole, domain_id=None, actor="tester")
    return str(made)
