"""Traps end, and what is no trap goes on."""

from __future__ import annotations

import gzip
import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from itertools import combinations, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messor.frontier.traps import (
    MAX_PATTERN_LENGTH,
    PATTERN_BUDGET,
    is_plain,
    pattern_key,
    trap_of,
)
from messor.web.html import TooComplexError, read_page
from messor.web.suffixes import registrable_domain
from messor.web.urls import parse, url_hash
from simweb.answers import Request
from simweb.mischief import traps

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"
YEAR = 2026
Site = Callable[[str], Iterable[str]]  # from a URL to the URLs it links


def crawl(start: str, links_of: Site, limit: int = 5000) -> list[str]:
    """What a crawler would fetch that asks both questions of every URL; breadth first."""
    pages: Counter[str] = Counter()
    seen = {url_hash(start)}
    waiting = deque([start])
    fetched: list[str] = []
    while waiting and len(fetched) < limit:
        url = waiting.popleft()
        fetched.append(url)
        for href in links_of(url):
            link = parse(href, url)
            if link is None or url_hash(link) in seen or trap_of(link.href, YEAR):
                continue
            key = pattern_key(link.href)
            if key is not None and pages[key] >= PATTERN_BUDGET:
                continue
            pages[key or ""] += 1
            seen.add(url_hash(link))
            waiting.append(link.href)
    return fetched


def world_site(host: str) -> Site:
    flaw = next(flaw for flaw in traps.flaws(7) if flaw.host == host)

    def links_of(url: str) -> Iterable[str]:
        parsed = parse(url)
        assert parsed is not None
        answer = flaw.handler(Request(host, parsed.target, {}))
        location = dict(answer.headers).get("Location")
        if location:
            return [location]
        assert isinstance(answer.body, bytes)
        return [link.href for link in read_page(answer.body.decode(), url).links]

    return links_of


def test_the_calendar_of_the_simulated_web_ends() -> None:
    fetched = crawl("http://calendar-trap.test/", world_site("calendar-trap.test"))
    assert 100 <= len(fetched) <= PATTERN_BUDGET + 1


def test_the_sessions_of_the_simulated_web_end_and_every_room_was_read() -> None:
    fetched = crawl("http://session-trap.test/", world_site("session-trap.test"))
    assert len(fetched) <= PATTERN_BUDGET + 1
    assert {url.partition("?")[0] for url in fetched} >= {
        f"http://session-trap.test/room/{n}" for n in range(6)
    }


def query_calendar() -> Iterator[str]:
    return (
        f"/events?month={m}&year={y}&view=grid" for y in range(1970, 2060) for m in range(1, 13)
    )


def dashed_calendar() -> Iterator[str]:
    for year, month in product(range(1995, 2029), range(1, 13)):
        yield f"/events/music/{year}-{month:02}/"
        yield f"/events/music/{year}-{month:02}-0{month % 9 + 1}/"


def facets() -> Iterator[str]:
    values = {"color": "rgbkw", "size": "smlx", "brand": "abcde", "fit_id": "01", "sort": "up"}
    for count in range(1, 6):
        for names in combinations(values, count):
            for chosen in product(*(values[name] for name in names)):
                yield "/shop/shoes?" + "&".join(map("=".join, zip(names, chosen, strict=True)))


def path_facets() -> Iterator[str]:
    return (f"/shoes/filter/color-{c}/size-{s}/sort-{o}" for c, s, o in product(range(9), repeat=3))


def pages() -> Iterator[str]:
    return (f"/news?page={n}" for n in range(1000))


def path_pages() -> Iterator[str]:
    return (f"/list/page/{n}/" for n in range(1000))


def replies() -> Iterator[str]:
    return (f"/item/{n}?replytocom={n}" for n in range(1000))


def counters() -> Iterator[str]:
    return (f"/?visit={blake2b(bytes([n % 251, n // 251])).hexdigest()[:32]}" for n in range(1000))


@pytest.mark.parametrize(
    "links",
    [
        query_calendar,
        dashed_calendar,
        facets,
        path_facets,
        pages,
        path_pages,
        replies,
        counters,
    ],
)
def test_every_family_ends(links: Callable[[], Iterator[str]]) -> None:
    start = "http://trap.test/start/"
    fetched = crawl(start, lambda url: links() if url == start else ())
    assert len(fetched) == PATTERN_BUDGET + 1


def growing(url: str) -> Iterator[str]:
    yield from ("more/", "docs/more/")
    yield url.rstrip("/") + "/deeper/"


def returning(url: str) -> Iterator[str]:
    parsed = parse(url)
    assert parsed is not None
    yield f"/login?next={parsed.target.replace('&', '%26')}"


@pytest.mark.parametrize("links_of", [growing, returning])
def test_addresses_that_grow_stop_growing(links_of: Site) -> None:
    assert len(crawl("http://trap.test/start/", links_of)) <= PATTERN_BUDGET


@pytest.mark.parametrize(
    "url",
    [
        "http://e.test/a/a/a/",
        "http://e.test/x/a/b/a/b/a/b",
        "http://e.test/docs/x/docs/y/docs/z/docs/w",
        "http://e.test/" + "/".join(f"s{n}" for n in range(21)),
        "http://e.test/?" + "&".join(f"p{n}=1" for n in range(13)),
        "http://e.test/?tag=a&tag=b&tag=c&tag=d",
        "http://e.test/" + "x" * 2100,
        "http://e.test/calendar/2031/05",
        "http://e.test/calendar/9999/05/12",
        "http://e.test/events?year=1850&month=2",
        "http://e.test/events?date=2077-01-01",
        "http://e.test/login?next=/login?next=/login?next=/login?next=/login?next=/",
        "http://e.test/login?next=%2Flogin%3Fnext%3D%252Flogin%253Fnext%253D%25252525",
    ],
)
def test_an_address_that_must_be_a_trap_is_refused_with_a_sentence(url: str) -> None:
    reason = trap_of(url, YEAR)
    assert reason
    assert " " in reason


@pytest.mark.parametrize(
    "url",
    [
        "http://e.test/",
        "http://e.test",
        "http://e.test//////",
        "http://e.test/2011/11/11/an-article",
        "http://e.test/1974/03/12/archives/an-old-article.html",
        "http://e.test/sitemap/1951/09/18/",
        "http://e.test/category/4521/3",
        "http://e.test/tiles/0/0/0/0",
        "http://e.test/shop/shop/chair",
        "http://e.test/a;jsessionid=0123456789ABCDEF0123456789ABCDEF",
        "http://e.test/product?id=5&utm_source=a&utm_medium=b&utm_campaign=c&gclid=d&fbclid=e",
        "http://e.test/calendar/2028/05",
        "http://e.test/search?q=a&lang=en&page=2&sort=price",
    ],
)
def test_an_odd_but_sound_address_is_let_through(url: str) -> None:
    assert trap_of(url, YEAR) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://e.test/product/blue-chair",
        "http://e.test/product/123456",
        "http://e.test/p/550e8400-e29b-41d4-a716-446655440000",
        "http://e.test/2024/05/12/how-we-met",
        "http://e.test/2024/05/12/12345",
        "http://e.test/services/sorting-and-ordering",
        "http://e.test/page/about",
        "http://e.test/?p=123",
        "http://e.test/index.php?route=product/product&path=20_27&product_id=41",
        "http://e.test/index.php?id=5&lang=de",
        "http://e.test/item?id=5&utm_source=x&utm_medium=y",
        "http://e.test/viewtopic.php?f=2&t=123",
        "http://e.test/news_view.html?idx=9621",
        "http://e.test/a.html?ref=home",
        "http://e.test/a;jsessionid=0123456789ABCDEF",
        "http://e.test/?PHPSESSID=0123456789abcdef0123456789abcdef",
        "http://e.test/story?sid=42",
        "http://e.test/item/QWxhZGRpbg==",
        "http://e.test/item/id=5",
        "http://e.test/shop/shop/chairs/blue/the-chair/",
        "http://e.test/tiles/0/0/0/0/0/",
    ],
)
def test_content_has_no_family(url: str) -> None:
    assert pattern_key(url) is None


@pytest.mark.parametrize(
    "one, other",
    [
        ("/calendar/2024/05", "/calendar/2024/05/12/"),
        ("/events/2024-05/", "/events/2019-11-03/list/"),
        ("/kalender/20240512", "/kalender/12.05.2024"),
        ("/shop?color=red&size=m", "/shop?sort=up"),
        ("/shop?color=red,blue", "/shop/filter/x"),
        ("/a?share=x", "/b?share=y"),
        ("/a?sid=0123456789abcdef01234567", "/b/sid/0123456789abcdef/c"),
        ("/shop?color_id=1&size_id=2", "/shop?brand=3"),
        ("/shoes?page=2", "/shoes?page=3"),
        ("/shoes/page/2", "/shoes/page/31/"),
    ],
)
def test_addresses_of_one_trap_share_a_family(one: str, other: str) -> None:
    key = pattern_key(f"http://e.test{one}")
    assert key is not None
    assert key == pattern_key(f"http://e.test{other}")


@pytest.mark.parametrize(
    "one, other",
    [
        ("/shoes?page=2", "/coats?page=2"),
        ("/viewtopic.php?t=1&start=20", "/viewtopic.php?t=2&start=20"),
        ("/chair?color=red", "/table?color=red"),
        ("/calendar/2024/05", "/news/2024/05"),
    ],
)
def test_lists_and_pages_of_their_own_have_budgets_of_their_own(one: str, other: str) -> None:
    keys = {pattern_key(f"http://e.test{path}") for path in (one, other)}
    assert len(keys) == 2
    assert None not in keys


def test_a_long_family_is_cut_and_stays_its_own() -> None:
    keys = {pattern_key(f"http://e.test/{'x' * 500}{n}?page=2") for n in range(3)}
    assert len(keys) == 3
    assert all(key and len(key) <= MAX_PATTERN_LENGTH for key in keys)


def test_a_large_shop_is_no_trap() -> None:
    slugs = [
        f"{a}-{b}-{n}" for a in ("blue", "old") for b in ("chair", "table") for n in range(500)
    ]
    start, links = "http://shop.test/", [f"/product/{slug}" for slug in slugs]
    fetched = crawl(start, lambda url: links if url == start else ())
    assert len(fetched) == len(slugs) + 1


@given(st.text(max_size=300))
def test_any_text_gets_an_answer(tail: str) -> None:
    url = parse(f"http://e.test/{tail}")
    if url:
        assert trap_of(url.href, YEAR) is None or len(trap_of(url.href, YEAR) or "") < 3000
        assert len(pattern_key(url.href) or "") <= MAX_PATTERN_LENGTH


PARTS = [
    *(
        "2024",
        "05",
        "12",
        "20240512",
        "9999",
        "jan",
        "w12",
        "calendar",
        "events",
        "page",
        "Seite-3",
    ),
    *("sid-abcdef0123456789ab", "a", "shop", "filter", "color=red", ";x=1", "?a=1", "?page=2"),
    *("?y=1812-05", "&sort=x", "12345", "x2024", "day", ".html", "order-by", "31"),
]


@given(st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from("//-_. ")), max_size=9))
def test_what_is_plain_is_neither_trap_nor_of_a_family(parts: list[tuple[str, str]]) -> None:
    url = parse(f"http://e.test/{''.join(part + end for part, end in parts)}")
    assert url is not None
    if trap_of(url.href, YEAR) is not None or pattern_key(url.href) is not None:
        assert not is_plain(url.href)


@pytest.mark.parametrize(
    "path",
    ["/", "/about-us", "/shop/chairs/blue-chair-12345", "/p/1234567", "/s12/p4711", "/a/b/c/"],
)
def test_most_addresses_are_plain(path: str) -> None:
    assert is_plain(f"https://www.e.test{path}")


@pytest.mark.parametrize("path", ["/jan-1999/day/", "/May.2031.html", "/x/w12/2024/list"])
def test_a_date_is_seen_whatever_surrounds_it(path: str) -> None:
    assert str(pattern_key(f"http://e.test{path}")).startswith("calendar /")


def test_real_sites_are_hardly_ever_taken_for_traps() -> None:
    """All links within their own site of real articles and shops."""
    if not CORPORA.exists():
        pytest.skip("the external cases are not here")
    links = {link for name in ("articles_zyte.json", "products_zyte.json") for link in _links(name)}
    refused = [link for link in links if trap_of(link, YEAR)]
    assert len(links) > 10_000
    assert len(refused) < len(links) * 0.002


def _links(name: str) -> Iterator[str]:
    for row in json.loads((CORPORA / name).read_bytes()):
        html = gzip.decompress((CORPORA / row["html_gz"]).read_bytes()).decode("utf-8", "replace")
        url = parse(row["url"])
        assert url is not None
        try:
            reading = read_page(html, url.href)
        except TooComplexError:
            continue
        home = registrable_domain(url.host)
        for link in reading.links:
            if registrable_domain(link.authority.partition(":")[0]) == home:
                yield link.href
