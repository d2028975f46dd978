"""Every engine against a stand-in that speaks its contract over a real socket."""

from __future__ import annotations

import pytest

from messor.scout.engines import registry
from messor.scout.engines.model import RawAnswer, SearchFaultError, SearchProfile, SerpBlock
from messor.settings import EngineOptions
from simweb.engines import open_engines
from simweb.services.standin import Failure
from simweb.world import World
from tests.scout.conftest import Bench

ENGINES = sorted(registry.OWN)
PROFILE = SearchProfile("gb", "en", "mobile", "United Kingdom")
QUERY = "food parcel"
PAGED = {"searxng", "serper", "serpapi", "brave"}


def test_every_engine_of_ours_is_known() -> None:
    assert set(ENGINES) <= set(registry.known())
    for name in ENGINES:
        assert registry.engine_class(name).name == name


@pytest.mark.parametrize("name", ENGINES)
async def test_a_search_gives_ranked_results(bench: Bench, name: str) -> None:
    stand_in, hired = await bench.hire(name)
    raw = await hired.engine.search(QUERY, PROFILE)
    page = hired.engine.parse(raw)
    expected = bench.index.search(QUERY, size=25).organic
    organic = page.of(SerpBlock.ORGANIC)
    assert len(organic) >= 3
    assert [r.url for r in organic] == [e.url for e in expected][: len(organic)]
    assert [r.rank for r in organic] == list(range(1, len(organic) + 1))
    assert organic[0].title == expected[0].title
    assert page.missing is None
    assert stand_in.searches == 1


@pytest.mark.parametrize("name", sorted(PAGED))
async def test_the_second_page_goes_on_after_the_first(bench: Bench, name: str) -> None:
    _, hired = await bench.hire(name)
    first = hired.engine.parse(await hired.engine.search("the", PROFILE, 1)).of(SerpBlock.ORGANIC)
    second = hired.engine.parse(await hired.engine.search("the", PROFILE, 2)).of(SerpBlock.ORGANIC)
    assert first
    assert second
    assert not {r.url for r in first} & {r.url for r in second}


@pytest.mark.parametrize("name", sorted(set(ENGINES) - PAGED))
async def test_an_engine_with_one_page_is_not_asked_for_another(bench: Bench, name: str) -> None:
    stand_in, hired = await bench.hire(name)
    with pytest.raises(SearchFaultError, match="page 2 was requested") as caught:
        await hired.engine.search(QUERY, PROFILE, 2)
    assert not caught.value.charged
    assert not stand_in.asked


@pytest.mark.parametrize("name", sorted(set(ENGINES) - {"searxng"}))
async def test_a_wrong_key_is_said_and_not_shown(bench: Bench, name: str) -> None:
    _, hired = await bench.hire(name, key="wrong-key-123")
    with pytest.raises(SearchFaultError, match="rejects our") as caught:
        await hired.engine.search(QUERY, PROFILE)
    assert caught.value.hold >= 3600
    assert not caught.value.charged
    assert "wrong-key-123" not in caught.value.sentence


@pytest.mark.parametrize("name", sorted(set(ENGINES) - {"searxng"}))
async def test_a_quota_that_is_used_up_rests_the_engine(bench: Bench, name: str) -> None:
    _, hired = await bench.hire(name, quota=1)
    await hired.engine.search(QUERY, PROFILE)
    with pytest.raises(SearchFaultError, match=r"no (searches|credits) left") as caught:
        await hired.engine.search(QUERY, PROFILE)
    assert caught.value.hold >= 3600
    assert not caught.value.charged


@pytest.mark.parametrize("name", ENGINES)
async def test_haste_is_slowed(bench: Bench, name: str) -> None:
    stand_in, hired = await bench.hire(name)
    stand_in.failure = Failure.TOO_MANY
    with pytest.raises(SearchFaultError, match="slow down") as caught:
        await hired.engine.search(QUERY, PROFILE)
    assert 60 <= caught.value.hold < 3600
    assert not caught.value.charged


@pytest.mark.parametrize("name", ENGINES)
async def test_a_failure_of_the_service_is_a_fault(bench: Bench, name: str) -> None:
    stand_in, hired = await bench.hire(name)
    stand_in.failure = Failure.INTERNAL
    with pytest.raises(SearchFaultError, match="failed") as caught:
        await hired.engine.search(QUERY, PROFILE)
    # It counts what the search engine behind it failed at.
    assert caught.value.charged is (name == "dataforseo")


@pytest.mark.parametrize("failure", [Failure.BAD_JSON, Failure.DEEP_JSON, Failure.NOT_JSON])
@pytest.mark.parametrize("name", sorted(set(ENGINES) - {"searxng"}))
async def test_a_malformed_answer_that_was_paid_for_is_kept_and_is_no_page(
    bench: Bench, name: str, failure: Failure
) -> None:
    stand_in, hired = await bench.hire(name)
    stand_in.failure = failure
    raw = await hired.engine.search(QUERY, PROFILE)
    assert raw.body
    with pytest.raises(SearchFaultError) as caught:
        hired.engine.parse(raw)
    assert caught.value.charged


@pytest.mark.parametrize("failure", [Failure.BAD_JSON, Failure.NOT_JSON, Failure.NO_PAGE])
async def test_a_free_engines_answer_without_a_page_is_a_failure(
    bench: Bench, failure: Failure
) -> None:
    stand_in, hired = await bench.hire("searxng")
    stand_in.failure = failure
    with pytest.raises(SearchFaultError) as caught:
        await hired.engine.search(QUERY, PROFILE)
    assert not caught.value.charged


@pytest.mark.parametrize("name", ["searxng", "firecrawl"])
async def test_no_results_because_nobody_answered_is_a_failure(bench: Bench, name: str) -> None:
    stand_in, hired = await bench.hire(name)
    stand_in.failure = Failure.NOBODY_ANSWERS
    with pytest.raises(SearchFaultError, match=r"google: Suspended|No source answered") as caught:
        await hired.engine.search(QUERY, PROFILE)
    assert not caught.value.charged
    assert caught.value.hold >= 60


@pytest.mark.parametrize("name", ENGINES)
async def test_an_error_that_comes_with_200_is_a_failure(bench: Bench, name: str) -> None:
    stand_in, hired = await bench.hire(name)
    stand_in.failure = Failure.ERROR_BODY
    with pytest.raises(SearchFaultError, match="quota") as caught:
        await hired.engine.search(QUERY, PROFILE)
    assert not caught.value.charged
    assert caught.value.hold >= 3600


@pytest.mark.parametrize("name", ENGINES)
async def test_a_key_is_tried_without_a_search(bench: Bench, name: str) -> None:
    stand_in, hired = await bench.hire(name)
    assert await hired.engine.trouble() is None
    if name != "searxng":
        _, wrong = await bench.hire(name, key="wrong-key-123")
        said = await wrong.engine.trouble()
        assert said is not None
        assert "rejects our" in said
        assert "wrong-key-123" not in said
    assert stand_in.searches == 0
    await stand_in.stop()
    assert "cannot be reached" in (await hired.engine.trouble() or "")


@pytest.mark.parametrize("name", ENGINES)
async def test_an_answer_without_a_page_is_no_empty_page(bench: Bench, name: str) -> None:
    stand_in, hired = await bench.hire(name)
    stand_in.failure = Failure.NO_PAGE
    with pytest.raises(SearchFaultError):
        hired.engine.parse(await hired.engine.search(QUERY, PROFILE))


@pytest.mark.parametrize("name", ENGINES)
async def test_nothing_found_is_an_empty_page(bench: Bench, name: str) -> None:
    _, hired = await bench.hire(name)
    page = hired.engine.parse(await hired.engine.search("xyzzyqq", PROFILE))
    assert not page.of(SerpBlock.ORGANIC)


@pytest.mark.parametrize("failure", [Failure.CUT, Failure.SILENT, Failure.HUGE])
@pytest.mark.parametrize("name", ["searxng", "serper"])
async def test_an_answer_that_is_lost_may_have_been_counted(
    bench: Bench, name: str, failure: Failure
) -> None:
    stand_in, hired = await bench.hire(name, seconds=0.2 if failure is Failure.SILENT else 20)
    stand_in.failure = failure
    with pytest.raises(SearchFaultError) as caught:
        await hired.engine.search(QUERY, PROFILE)
    assert caught.value.charged


async def test_nobody_follows_a_redirect(bench: Bench) -> None:
    stand_in, hired = await bench.hire("serper")
    stand_in.failure = Failure.REDIRECT
    with pytest.raises(SearchFaultError, match="redirects: set its address"):
        await hired.engine.search(QUERY, PROFILE)


async def test_an_engine_that_is_away_cannot_have_counted(bench: Bench) -> None:
    stand_in, hired = await bench.hire("serper")
    await stand_in.stop()
    with pytest.raises(SearchFaultError, match="cannot be reached") as caught:
        await hired.engine.search(QUERY, PROFILE)
    assert not caught.value.charged


@pytest.mark.parametrize("name", ["searxng", "firecrawl"])
async def test_what_is_missing_makes_a_page_partial(bench: Bench, name: str) -> None:
    stand_in, hired = await bench.hire(name)
    stand_in.partial = True
    page = hired.engine.parse(await hired.engine.search(QUERY, PROFILE))
    assert page.missing
    assert page.of(SerpBlock.ORGANIC)


def test_searxng_without_anybody_to_ask_is_no_empty_page() -> None:
    body = b'{"query":"x","results":[],"unresponsive_engines":[["google","CAPTCHA"]]}'
    with pytest.raises(SearchFaultError, match="google: CAPTCHA"):
        registry.engine_class("searxng").parse(RawAnswer("searxng", 200, {}, body))


async def test_searxng_without_json_says_what_to_set(bench: Bench) -> None:
    stand_in, hired = await bench.hire("searxng")
    stand_in.failure = Failure.FORBIDDEN
    with pytest.raises(SearchFaultError, match=r"search\.formats"):
        await hired.engine.search(QUERY, PROFILE)


@pytest.mark.parametrize("name", ["serper", "serpapi", "dataforseo"])
async def test_googles_page_has_its_blocks(bench: Bench, name: str) -> None:
    _, hired = await bench.hire(name)
    page = hired.engine.parse(await hired.engine.search("bicycle overhaul", PROFILE))
    expected = bench.index.search("bicycle overhaul")
    assert len(page.of(SerpBlock.LOCAL_PACK)) == len(expected.local) > 0
    assert [r.url for r in page.of(SerpBlock.AD)] == [e.url for e in expected.ads]
    assert [r.title for r in page.of(SerpBlock.PEOPLE_ALSO_ASK)] == expected.questions
    assert [r.title for r in page.of(SerpBlock.RELATED)] == expected.related


async def test_what_is_asked_is_each_contracts(bench: Bench) -> None:
    asked = {}
    for name in ENGINES:
        stand_in, hired = await bench.hire(name)
        await hired.engine.search(QUERY, PROFILE)
        asked[name] = stand_in.asked[0]
    assert asked["serper"].body["gl"] == "gb"
    assert asked["dataforseo"].body[0]["location_name"] == "United Kingdom"
    assert asked["dataforseo"].body[0]["device"] == "mobile"
    assert asked["dataforseo"].headers["Authorization"].startswith("Basic ")
    assert asked["tavily"].body["country"] == "united kingdom"
    assert asked["perplexity"].body["country"] == "GB"
    assert asked["browserbase"].body == {"query": QUERY, "numResults": 25}


async def test_an_outage_lasts_its_epochs(bench: Bench) -> None:
    stand_in, hired = await bench.hire("serper", outages=[1])
    await hired.engine.search(QUERY, PROFILE)
    stand_in.epoch = 1
    with pytest.raises(SearchFaultError, match="503"):
        await hired.engine.search(QUERY, PROFILE)
    stand_in.epoch = 2
    await hired.engine.search(QUERY, PROFILE)


def test_places_drift_over_epochs(bench: Bench) -> None:
    orders = {
        tuple(e.url for e in bench.index.search("grant", epoch).organic) for epoch in range(4)
    }
    assert len(orders) > 1


async def test_all_engines_serve_together() -> None:
    async with open_engines(World("demo"), ENGINES) as engines:
        hired = registry.hire({n: EngineOptions(**o) for n, o in engines.settings.items()})  # type: ignore[arg-type]
        engines.move_to(2)
        for one in hired:
            page = one.engine.parse(await one.engine.search("grant", PROFILE))
            assert page.of(SerpBlock.ORGANIC)
            await one.engine.close()
    assert [one.name for one in hired] == ENGINES
