"""Epochs: most pages stay as they are, some change, appear or vanish."""

import json
import re
from collections import Counter

from simweb import World
from simweb.tradehost import TradeHost


def statuses(world: World, epoch: int) -> dict[tuple[str, str], tuple[int, str | None]]:
    found = {}
    for site in world.sites:
        if isinstance(site.responder, TradeHost):
            for path in site.responder.pages:
                answer = world.respond(site.host, path, {}, epoch)
                found[site.host, path] = (answer.status, answer.header("etag"))
    return found


def test_most_pages_stay_some_change_appear_and_vanish() -> None:
    world = World("demo")
    before, after = statuses(world, 0), statuses(world, 1)
    moves = Counter((before[page][0], after[page][0]) for page in before)
    assert moves[404, 200] > 0, "some appear"
    assert moves[200, 404] + moves[200, 410] > 0, "some vanish"
    lasting = [p for p in before if before[p][0] == after[p][0] == 200]
    changed = [p for p in lasting if before[p][1] != after[p][1]]
    assert 0.03 < len(changed) / len(lasting) < 0.4


def test_pages_return_to_no_earlier_edition_by_rereading() -> None:
    world = World("demo")
    first = statuses(world, 2)
    statuses(world, 5)
    assert statuses(world, 2) == first


def test_a_price_changes_in_text_and_data_alike() -> None:
    world = World("demo")
    site = next(s for s in world.sites if s.host == "shop.kettle-and-lamp.test")
    assert isinstance(site.responder, TradeHost)
    changed = 0
    for path in site.responder.pages:
        prices = [shown_price(world, site.host, path, epoch) for epoch in range(6)]
        changed += len({price for price in prices if price}) > 1
    assert changed > 0


def shown_price(world: World, host: str, path: str, epoch: int) -> str | None:
    answer = world.respond(host, path, {}, epoch)
    text = answer.body.decode()
    for block in re.findall(r'ld\+json">(.*?)</script>', text):
        data = json.loads(block)
        if data["@type"] == "Product":
            price: str = data["offers"]["price"]
            assert data["offers"]["priceCurrency"] == "USD"
            assert f"<dd>${price}</dd>" in text
            return price
    return None


def test_listings_show_what_exists() -> None:
    """No link to an item that does not exist yet; the sitemap agrees."""
    world = World("demo")
    for site in world.sites:
        if not isinstance(site.responder, TradeHost):
            continue
        links: set[str] = set()
        for path in site.responder.pages:
            body = world.respond(site.host, path).body.decode()
            links |= set(re.findall(r'href="(/[^"?]*)"', body))
        missing = [x for x in links if world.respond(site.host, x).status != 200]
        assert missing == []


def test_bench_pages_change_too() -> None:
    world = World("bench", hosts=1, pages=200)
    host = world.sites[0].host
    urls = re.findall(rb"<loc>(.*?)</loc>", world.respond(host, "/sitemap-0.xml").body)
    paths = [url.decode().partition(".test")[2] for url in urls]
    assert len(paths) == 200
    tags = [[world.respond(host, p, {}, e).header("etag") for p in paths] for e in (0, 1)]
    changed = sum(a != b for a, b in zip(*tags, strict=True))
    assert 0 < changed < 40
