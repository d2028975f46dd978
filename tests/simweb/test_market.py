"""Markets: webs whose truth is known, the same from the same seed, and served as they say."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path

import pytest

import simweb.market
from simweb import World, WorldProcess
from simweb.errors import MarketError, WorldUnavailableError
from simweb.market import MARKETS
from simweb.tradehost import PageHost
from simweb.truth import Truth


def texts(world: World, epoch: int = 0) -> dict[str, bytes]:
    return {
        f"{site.host}{path}": world.respond(site.host, path, epoch=epoch).body
        for site in world.sites
        if isinstance(site.responder, PageHost)
        for path in site.responder.pages
    }


@pytest.mark.parametrize("market", MARKETS)
def test_a_market_has_those_who_are_looked_for_and_others(market: str) -> None:
    world = World("market", 1, market=market)
    truth = Truth(world)
    assert 45 <= len(truth.domains) <= 80
    assert 15 <= len(truth.relevant) <= 40
    classes = {one.domain_class for one in truth.domains.values()}
    assert classes >= {
        "business", "directory", "marketplace", "social", "government", "news", "aggregator", "parked",
        "forum", "reference", "education",
    }  # fmt: skip
    assert len({site.host for site in world.sites}) == len(world.sites)
    for page, body in texts(world).items():
        html = body.decode()
        assert "<title>" in html, page
        shown = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
        assert not re.search(r"[{}]", shown), f"{page} has an unfilled slot"


def test_the_same_seed_gives_the_same_market_and_another_seed_another() -> None:
    first, again, other = (World("market", seed, market="funding") for seed in (1, 1, 2))
    assert texts(first) == texts(again)
    assert Truth(first).as_json() == Truth(again).as_json()
    assert len(Truth(first).relevant & Truth(other).relevant) < len(Truth(first).relevant) / 2


def test_pages_change_and_places_drift_from_epoch_to_epoch() -> None:
    world = World("market", 1, market="products")
    before, after = texts(world), texts(world, 1)
    changed = sum(before[page] != after[page] for page in before)
    assert 0 < changed < len(before) / 2
    truth = Truth(world)
    first, later = (truth.serp("wool blanket", "United Kingdom", epoch) for epoch in (0, 1))
    assert [one.url for one in first.results] != [one.url for one in later.results]
    elsewhere = truth.serp("wool blanket", "United States")
    assert [one.url for one in first.results] != [one.url for one in elsewhere.results]


def test_a_result_page_is_spread_over_domains() -> None:
    truth = Truth(World("market", 3, market="wellness"))
    page = truth.serp("acne treatment singapore", "Singapore")
    organic = [one for one in page.results if one.block == "organic"]
    assert [one.rank for one in organic] == list(range(1, len(organic) + 1))
    assert len({one.domain for one in organic}) >= 5
    assert truth.reachable(["acne treatment singapore"], ["Singapore"]) == page.domains()
    assert page.domains() <= set(truth.domains)


def test_only_markets_have_a_truth() -> None:
    with pytest.raises(MarketError, match="Only a world of profile market"):
        Truth(World("bench", hosts=1, pages=2))
    with pytest.raises(MarketError, match="Unknown market 'shoes'"):
        World("market", market="shoes")


def test_the_scripts_know_nobody_who_reads_them() -> None:
    """What is written here must not come from those who judge it."""
    folder = Path(simweb.market.__file__).parent
    sources = [*folder.glob("*.py"), folder.parent / "truth.py"]
    for source in sources:
        text = source.read_text("utf-8")
        assert not re.search(r"messor\.(scout|insight|verticals|extract)", text), source


def test_a_process_serves_sites_engines_and_truth() -> None:
    with WorldProcess("market", 4, market="funding", engines=("serper", "searxng")) as process:
        truth = Truth(World("market", 4, market="funding"))
        assert process.truth() == json.loads(json.dumps(truth.as_json()))
        asked = ("research fellowship", "United States", 2)
        page = process.serp(*asked)
        assert page == json.loads(json.dumps(truth.serp(*asked).as_json()))
        assert process.reachable(["community fund"], ["United States"]) == truth.reachable(
            ["community fund"], ["United States"]
        )
        process.set_epoch(2)
        served = _ask(process.search_engines["serper"], "research fellowship", "United States")
        organic = [one["url"] for one in page["results"] if one["block"] == "organic"]
        assert [row["link"] for row in served["organic"]] == organic
        local = [one["url"] for one in page["results"] if one["block"] == "local_pack"]
        assert [row["website"] for row in served.get("places", [])] == local


def test_another_world_has_no_truth_to_tell() -> None:
    with WorldProcess("chaos", hosts=2) as process:
        assert process.search_engines == {}
        with pytest.raises(WorldUnavailableError, match="rejected the control request /truth"):
            process.truth()


def _ask(engine: dict[str, str], query: str, location: str) -> dict[str, list[dict[str, str]]]:
    request = urllib.request.Request(
        f"{engine['url']}/search",
        data=json.dumps({"q": query, "location": location}).encode(),
        headers={"X-API-KEY": engine["key"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        found: dict[str, list[dict[str, str]]] = json.load(answer)
    return found
