"""Answers shaped like the documented ones are read as they should be (see samples/README.md)."""

from __future__ import annotations

from collections import Counter
from datetime import date
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest

from messor.scout.engines.model import RawAnswer, SearchFaultError, SerpBlock, SerpPage
from messor.scout.engines.registry import OWN, engine_class

SAMPLES = Path(__file__).parent / "samples"
BLOCKS = {
    "searxng": {"organic": 2, "featured": 1, "knowledge": 1, "related": 2},
    "serper": {
        "organic": 3,
        "local_pack": 2,
        "ad": 1,
        "featured": 1,
        "knowledge": 1,
        "people_also_ask": 1,
        "related": 2,
    },
    "tavily": {"organic": 2},
    "dataforseo": {
        "organic": 2,
        "ad": 1,
        "featured": 1,
        "local_pack": 1,
        "people_also_ask": 1,
        "related": 2,
        "ai_overview": 1,
    },
    "serpapi": {
        "organic": 2,
        "ad": 1,
        "local_pack": 1,
        "featured": 1,
        "people_also_ask": 1,
        "related": 1,
    },
    "brave": {"organic": 2, "local_pack": 1, "people_also_ask": 1, "news": 1},
    "perplexity": {"organic": 2},
    "browserbase": {"organic": 2},
    "firecrawl": {"organic": 2, "news": 1},
}


def read(name: str) -> SerpPage:
    body = (SAMPLES / f"{name}.json").read_bytes()
    return engine_class(name).parse(RawAnswer(name, 200, {}, body))


@pytest.mark.parametrize("name", sorted(OWN))
def test_every_block_is_found(name: str) -> None:
    page = read(name)
    assert Counter(result.block.value for result in page.results) == BLOCKS[name]
    places = [(result.block, result.rank) for result in page.results]
    assert len(places) == len(set(places))


def test_details() -> None:
    serper = read("serper")
    assert [result.rank for result in serper.of(SerpBlock.ORGANIC)] == [1, 2, 4]
    published = [result.published_at for result in serper.of(SerpBlock.ORGANIC)]
    assert [moment and moment.date() for moment in published] == [None, date(2026, 10, 3), None]
    assert serper.of(SerpBlock.LOCAL_PACK)[1].url is None
    brave = read("brave").of(SerpBlock.ORGANIC)[0]
    assert (brave.title, brave.snippet) == ("Joinery & stairs", "Joinery in Dublin since 1980.")
    assert read("dataforseo").cost == Decimal("0.002")
    assert read("searxng").missing == "no response from google: CAPTCHA, qwant: timeout"
    assert read("serpapi").extras["ai_overview"] == {"page_token": "t"}
    assert read("perplexity").of(SerpBlock.ORGANIC)[1].published_at is not None


@pytest.mark.parametrize("name", sorted(OWN))
def test_any_value_may_be_of_any_type(name: str) -> None:
    """Each value of a sample in turn is replaced by one of another type: a page or a sentence."""
    table = msgspec.json.decode((SAMPLES / f"{name}.json").read_bytes())
    for changed in _mutations(table):
        body = msgspec.json.encode(changed)
        try:
            page = engine_class(name).parse(RawAnswer(name, 200, {}, body))
        except SearchFaultError:
            continue
        for result in page.results:
            assert result.rank > 0
            assert result.url is None or result.url.startswith(("http://", "https://"))


def _mutations(value: object) -> list[object]:
    others: list[object] = [None, 7, "x", [], {}, [7], ["x"], True, -1.5]
    found = list(others)
    if isinstance(value, dict):
        for key, inner in value.items():
            found += [{**value, key: changed} for changed in _mutations(inner)]
    elif isinstance(value, list):
        for place, inner in enumerate(value[:4]):
            found += [[*value[:place], new, *value[place + 1 :]] for new in _mutations(inner)]
    return found
