"""The same seed gives the same web; other seeds and epochs give another one."""

import gzip
import re

import pytest

from simweb import World
from simweb.chance import draw
from simweb.epochs import Rates, edition, last_event

GZIP = {"accept-encoding": "gzip"}


def bodies(world: World, epoch: int = 0) -> dict[str, bytes]:
    return {
        site.host: world.respond(site.host, "/", GZIP, epoch).body
        for site in world.sites
        if not site.misbehaves
    }


@pytest.mark.parametrize("profile", ["demo", "bench", "chaos"])
def test_same_seed_same_bytes(profile: str) -> None:
    first, second = (World(profile, 7, hosts=4, pages=9) for _ in range(2))
    assert [s.summary() for s in first.sites] == [s.summary() for s in second.sites]
    assert bodies(first) == bodies(second)


def test_another_seed_gives_other_content() -> None:
    assert bodies(World("demo", 7)) != bodies(World("demo", 8))


def test_generators_are_named() -> None:
    assert draw(7, "a").random() == draw(7, "a").random()
    assert draw(7, "a").random() != draw(7, "b").random()


def test_the_demo_is_a_small_town() -> None:
    world = World("demo")
    assert 400 <= sum(site.pages for site in world.sites) <= 600
    assert len({site.host for site in world.sites}) == len(world.sites)
    assert {site.kind for site in world.sites if not site.misbehaves} == {
        "clinic", "shop", "relief", "foundation", "restaurant", "firm", "links",
    }  # fmt: skip
    addresses = [site.address for site in world.sites]
    assert len(set(addresses)) < len(addresses), "some hosts share an address"


def test_bench_pages_have_the_wanted_shape() -> None:
    world = World("bench", hosts=2, pages=300)
    host = world.sites[0].host
    body = gzip.decompress(world.respond(host, "/", GZIP).body)
    assert 46_000 < len(body) < 56_000
    assert 110 <= body.count(b"<a ") <= 130


def test_every_bench_page_is_reachable_and_different() -> None:
    world = World("bench", hosts=2, pages=300)
    host = world.sites[0].host
    seen: dict[str, bytes] = {}
    todo = ["/"]
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        answer = world.respond(host, path)
        assert answer.status == 200
        seen[path] = answer.body
        todo += [link.decode() for link in re.findall(rb'<a [^>]*href="(/[^"]*)"', answer.body)]
    assert len(seen) == 300
    assert len(set(seen.values())) == 300
    titles = {re.findall(rb"<title>(.*?)</title>", body)[0] for body in seen.values()}
    assert len(titles) == 300


def test_warming_changes_no_answer() -> None:
    cold, warm = World("bench", hosts=2, pages=20), World("bench", hosts=2, pages=20)
    warm.warm()
    assert bodies(cold) == bodies(warm)


def test_chaos_pages_are_small() -> None:
    world = World("chaos", hosts=30)
    assert len({site.address for site in world.sites}) == 30
    for site in world.sites:
        assert 8 <= site.pages <= 20
        assert 2_500 < len(world.respond(site.host, "/").body) < 7_500


def test_an_edition_never_lies_in_the_future() -> None:
    rates = Rates(change=0.3, vanish=0.1, appear=0.3)
    for name in range(200):
        for epoch in range(6):
            found = edition(epoch, rates, name)
            assert found is None or found <= epoch
            assert last_event(epoch, rates, name) <= epoch
