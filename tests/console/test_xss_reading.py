"""Hostile words in what pages state, in products, trials and searches: none of them runs."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from playwright.async_api import Browser

from messor.access.members import Member
from messor.access.roles import Role
from messor.parsers.page_findings import FoundPage, FoundRecord
from messor.store.database import Database
from tests.console import seeding
from tests.console.test_browser import WIDE, log_in
from tests.console.test_xss import CANARY, OWN, payloads, visit
from tests.harvested import Harvest, add_trial, open_harvest

KINDS = ("product", "product_offer", "product_variant", "image", "contact")
REFLECTED = (
    ("/records", "kind"), ("/records", "domain"), ("/records", "parser"), ("/products", "brand"),
    ("/products", "category"), ("/products", "min_price"), ("/products", "domain"),
    ("/parsers", "parser"), ("/search", "q"), ("/search?q=x", "kind"), ("/search?q=x", "brand"),
    ("/search?q=x", "after"), ("/products", "cursor"),
)  # fmt: skip


def _record(kind: str, words: list[str], number: int) -> FoundRecord:
    """A record of a parser that believes everything."""
    word = words[number % len(words)]
    data = {
        "product_name": word, "brand": word, "category": word, "sku": word, "seller": word,
        "url": word, "size": [word], "availability": word, "currency": word, "price": number + 0.5,
        "description": word * 3, "alt": word, word[:50]: {word[:50]: word},
    }  # fmt: skip
    proof = {"method": f"{word}:{word}", "quote": word * 5, "path": word}
    fields = {name: {"confidence": 0.5, "evidence": proof} for name in data}
    return FoundRecord(
        kind,
        f"{number} {word[:100]}",
        0.5,
        word[:100],
        word[:100],
        json.dumps(data),
        json.dumps(fields),
        b"x",
    )


async def _planted(shop: Harvest, words: list[str]) -> list[str]:
    database, paths = shop.database, []
    for number in range(len(words)):
        url = f"https://shop.example/{number}"
        page_id = await seeding.add_page(database, shop.domain, url)
        for turn in (2, 1):
            text = f"{words[number]} {turn}"
            ago = timedelta(days=turn)
            snapshot_id = await seeding.add_snapshot(database, page_id, text, text, ago)
            records = [_record(kind, words, number + turn) for kind in KINDS]
            page = FoundPage(
                "product", 1.0, text, text, text, "{}", "[]", "[]", "[]", True, [], records
            )  # fmt: skip
            await shop.store(page_id, snapshot_id, page, shop.now - ago)
    await shop.index()
    ids = await database.fetch("SELECT id FROM messor.records ORDER BY id")
    paths += [f"/records/{row['id']}" for row in ids[:: max(1, len(ids) // 60)]]
    ids = await database.fetch("SELECT id FROM messor.products ORDER BY id")
    paths += [f"/products/{row['id']}" for row in ids[:: max(1, len(ids) // 60)]]
    return paths


@pytest.mark.wide
async def test_nothing_that_pages_state_runs(
    chromium: Browser,
    console: str,
    database: Database,
    joined: Callable[..., Awaitable[Member]],
) -> None:
    await joined(Role.ADMIN)
    words = [word.replace("\x00", "").encode("utf-8", "replace").decode() for word in payloads()]
    words = [word for word in words if word.strip()][:120]
    shop = await open_harvest(database)
    paths = await _planted(shop, words)
    field = {"same": 1, "different": 1, "gained": 1, "lost": 1, "agreement": 0.5}
    examples = [
        {"url": word, "field": word, "stored": word, "candidate": [word]} for word in words[:20]
    ]
    trial = await add_trial(
        database, words[0][:100], words[1][:100], fields=dict.fromkeys(words[:40], field),
        examples=examples,
    )  # fmt: skip
    await database.fetch("UPDATE messor.parser_trials SET reason = $1, decided_by = $1", words[0])
    pinned = "INSERT INTO messor.parser_pins (parser, version, pinned_by) VALUES ($1, $1, $1)"
    await database.fetch(pinned, words[1][:100])
    paths += ["/records", "/products", "/parsers", f"/parsers/trials/{trial}", "/search?q=1"]
    paths += ["/domains/shop.example/records", "/records?sure=middle", "/products?order=price"]
    context = await chromium.new_context(viewport=WIDE)
    told: list[str] = []
    away: list[str] = []
    await context.expose_function("__told", lambda what: told.append(str(what)))
    await context.add_init_script(CANARY)
    context.on(
        "request",
        lambda one: None if one.url.startswith((console, "data:")) else away.append(one.url),
    )
    page = await context.new_page()
    await log_in(page, console, Role.ADMIN)
    reflected = [
        f"{path}{'&' if '?' in path else '?'}{urlencode({name: word})}"
        for word in OWN
        for path, name in REFLECTED
    ]
    await visit(page, console, paths + reflected, told)
    assert told == [], json.dumps(told[:5])
    assert away == [], "a page asked somebody else for something"
    await context.close()
