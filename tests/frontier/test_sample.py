"""Which few pages of a site are read."""

from __future__ import annotations

import random
from datetime import UTC, datetime

from messor.frontier.categories import categorise
from messor.frontier.sample import LIGHT_LIMIT, STANDARD_LIMIT, SampleCandidate, sample

YEAR = 2026


def page(path: str, depth: int = 1, **more: object) -> SampleCandidate:
    category = categorise(path)
    return SampleCandidate(
        f"https://acme.test{path}",
        category.name if category else None,
        category.score if category else 0.0,
        depth,
        **more,  # type: ignore[arg-type]
    )


def paths(candidates: list[SampleCandidate], limit: int) -> list[str]:
    return [
        choice.candidate.url.removeprefix("https://acme.test")
        for choice in sample(candidates, limit, YEAR)
    ]


SHOP = [
    page("/", 0, found_by="seed"),
    page("/about"),
    page("/contact"),
    page("/services"),
    page("/pricing"),
    page("/faq"),
    page("/shop"),
    page("/privacy-policy"),
    *(page(f"/product/chair-{n}", 2, found_by="sitemap") for n in range(500)),
    *(page(f"/shop?page={n}", 2) for n in range(2, 40)),
    *(page(f"/blog/post-{n}", 3) for n in range(30)),
    *(page(f"/tag/{n}", 2) for n in range(30)),
    page("/logo.png"),
]


def test_a_light_sample_has_the_key_pages_first() -> None:
    chosen = paths(SHOP, LIGHT_LIMIT)
    assert chosen[:4] == ["/", "/about", "/services", "/contact"]
    assert set(chosen) >= {"/pricing", "/faq", "/shop"}
    assert len(chosen) == LIGHT_LIMIT


def test_lists_tags_and_files_take_no_place() -> None:
    chosen = paths(SHOP, 1000)
    assert not [path for path in chosen if "page=" in path or "/tag/" in path or ".png" in path]
    assert chosen[-1] == "/privacy-policy" or "/product/" in chosen[-1]


def test_no_single_category_takes_the_sample() -> None:
    chosen = paths(SHOP, STANDARD_LIMIT)
    assert sum("/product/" in path for path in chosen) < 12
    assert sum("/blog/" in path for path in chosen) >= 5


def test_the_order_of_the_candidates_does_not_matter() -> None:
    shuffled = SHOP.copy()
    random.Random(5).shuffle(shuffled)
    assert paths(shuffled, STANDARD_LIMIT) == paths(SHOP, STANDARD_LIMIT)


def test_translations_wait_for_the_homepages_language() -> None:
    candidates = [page("/", 0)]
    for language in ("", "/fr", "/de"):
        candidates += [page(f"{language}/{name}") for name in ("about", "services", "contact", "x")]
    candidates += [page("/fr/nos-tarifs"), page("/fr/"), page("/de/")]
    assert paths(candidates, 12) == ["/", "/about", "/services", "/contact", "/x", "/fr/nos-tarifs"]


def test_a_site_that_is_all_below_languages_is_read_in_one() -> None:
    candidates = [page("/", 0), *(page(f"/en/{name}") for name in ("about", "faq", "x"))]
    candidates += [page("/fr/about"), page("/fr/contact")]
    assert paths(candidates, 12) == ["/", "/en/about", "/en/faq", "/en/x", "/fr/contact"]


def test_the_same_page_twice_is_one() -> None:
    twice = [page("/", 0), page("/about"), page("/about/"), page("/about?utm_source=x")]
    twice += [page("/index.html"), SampleCandidate("http://www.acme.test/about", "about")]
    assert len(sample(twice, 12, YEAR)) == 2


def test_near_important_and_fresh_pages_come_first() -> None:
    candidates = [
        page("/", 0),
        page("/deep", 4),
        page("/old", lastmod=datetime(2020, 1, 1, tzinfo=UTC)),
        page("/new", lastmod=datetime(2026, 1, 1, tzinfo=UTC)),
        page("/weighty", priority=0.9),
    ]
    assert paths(candidates, 12) == ["/", "/weighty", "/new", "/old", "/deep"]


def test_every_choice_has_its_reason() -> None:
    reasons = [choice.reason for choice in sample(SHOP, 3, YEAR)]
    assert reasons[0] == "homepage"
    assert reasons[1] == "about page, number 1 of its kind, depth 1, found by link"


def test_without_candidates_or_room_there_is_nothing() -> None:
    assert sample([], 12, YEAR) == []
    assert sample(SHOP, 0, YEAR) == []
    assert sample([SampleCandidate("mailto:x")], 12, YEAR) == []


def test_without_a_root_the_nearest_page_stands_in() -> None:
    chosen = sample([page("/a/b", 2), page("/a", 1)], 12, YEAR)
    assert chosen[0].candidate.url.endswith("/a")
    assert chosen[0].reason == "nearest page"
