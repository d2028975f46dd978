from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messor.web.html import MAX_CHARS, MAX_LINKS, TooComplexError, read_page
from messor.web.urls import LinkCache, LinkResolver

URL = "https://e.com/shop/list.html"

PAGE = """<!doctype html><html lang="de-AT"><head><title> A
 title </title><base href="/base/">
<meta name="description" content="What it is"><link rel="canonical" href="/canon">
<meta name="robots" content="NOINDEX, follow"><meta http-equiv="refresh" content="5; URL='/next'">
<meta property="og:title" content="OG">
<script type="application/ld+json">{"@type": "Product", "name": "A\\u0000B"}</script>
<script id="__NEXT_DATA__" type="application/json">{"price": 5}</script>
<script>window.__NUXT__={a:1}</script><script>var hidden = 1</script></head>
<body><h1>Head</h1><p>Some <b>text</b> here.</p>
<a href="a.html#x">A</a><a href="a.html">A again</a><a href="/b" rel="nofollow ugc">B</a>
<a href="mailto:x@y">m</a><a href="javascript:0">j</a><a href="#top">t</a><a href="https://o.com/?utm_source=x">O</a>
<div itemscope itemtype="https://schema.org/Offer"><span itemprop="price">7</span></div>
</body></html>"""


def test_everything_from_one_page() -> None:
    page = read_page(PAGE, URL)
    assert (page.title, page.description, page.language) == ("A title", "What it is", "de-AT")
    assert page.base == "https://e.com/base/"
    assert page.canonical == "https://e.com/canon"
    assert page.refresh == "https://e.com/next"
    assert (page.noindex, page.nofollow) == (True, False)
    assert [(link.href, link.authority, link.nofollow) for link in page.links] == [
        ("https://e.com/base/a.html", "e.com", False),
        ("https://e.com/b", "e.com", True),
        ("https://o.com/?utm_source=x", "o.com", False),
    ]
    assert "# Head" in page.markdown
    assert "hidden" not in page.markdown
    assert page.word_count >= 6
    assert 0 < page.text_length < 200


def test_structured_data() -> None:
    found = read_page(PAGE, URL).structured
    assert found["json_ld"] == [{"@type": "Product", "name": "AB"}]
    assert found["opengraph"] == {"title": "OG"}
    assert found["microdata"][0]["properties"] == {"price": ["7"]}
    assert found["state"] == {"__NEXT_DATA__": '{"price": 5}', "__NUXT__": "window.__NUXT__={a:1}"}


def test_forgiving_json_ld() -> None:
    page = '<script type="application/ld+json"><!-- {"a": "b\nc", "d": NaN, "e": "\\ud800"} --></script>'
    assert read_page(page, URL).structured["json_ld"] == [{"a": "b\nc", "d": None, "e": ""}]
    deep = f'<script type="application/ld+json">{"[" * 100_000}</script>'
    assert read_page(deep, URL).structured == {}


def test_the_agents_own_meta_tag_counts() -> None:
    html = '<meta name="Messor" content="none"><meta name="otherbot" content="noindex">'
    page = read_page(html, URL, agent="messor")
    assert page.noindex
    assert page.nofollow
    assert not read_page(html, URL, agent="third").noindex


def test_a_link_that_is_followed_anywhere_is_followed() -> None:
    (link,) = read_page('<a href="/a" rel="nofollow">x</a><a href="/a">y</a>', URL).links
    assert not link.nofollow


def test_a_shared_cache_gives_the_same_links() -> None:
    cache = LinkCache()
    first = read_page(PAGE, URL, resolver=LinkResolver(URL, cache))
    again = read_page(PAGE, URL, resolver=LinkResolver(URL, cache))
    assert first.links == again.links == read_page(PAGE, URL).links
    assert len(cache) > 0


def test_links_are_found_wherever_they_stand_and_keep_their_own_texts() -> None:
    html = """<svg><a href="/drawn">d</a></svg><template><a href="/later">l</a></template>
    <map><area href="/corner"></map><a href>empty</a><a name="here">no</a><a HREF="/a?b&amp;c"> A  B </a>
    <noscript><a href="/without">w</a></noscript><a href="/drawn">again</a>"""
    page = read_page(html, URL, known={"/later"})
    assert page.hrefs == ["/drawn", "/a?b&c", "/without", "/corner"]
    assert page.anchors == ["d", "A B", "w", ""]


def test_links_are_capped() -> None:
    page = read_page("".join(f"<a href=/{n}>" for n in range(MAX_LINKS + 10)), URL)
    assert len(page.links) == MAX_LINKS
    assert page.links_cut


def many_attributes(tag: str, count: int) -> str:
    return "".join(f"<{tag} a{n}>" for n in range(count))


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000,
        "<b>" * 100_000,
        "<table><tr><td>" * 30_000,
        "<table>" + "<tr><td>x" * 50_000 + "<td>y" * 2_000,
        "<p " + " ".join(f"a{n}=1" for n in range(300_000)) + ">",
        "<div itemscope itemprop=a>" * 20_000,
        "".join(
            f'<div id=i{n} itemscope itemprop=z itemref="i{n + 1} j{n + 1}"></div>'
            f'<div id=j{n} itemscope itemprop=z itemref="i{n + 1} j{n + 1}"></div>'
            for n in range(40)
        ),
        "<blockquote>" * 20_000 + "x",
        "<" * 500_000,
        "\0" * 500_000,
    ],
    ids=range(10),
)
def test_hostile_pages_are_read_or_refused_quickly(html: str) -> None:
    started = time.thread_time()
    with suppress(TooComplexError):
        read_page(html, URL)
    assert time.thread_time() - started < 10


@pytest.mark.parametrize(
    "html",
    [
        "x" * (MAX_CHARS + 1),
        many_attributes("body", 30_000),
        many_attributes("HtMl", 30_000),
        "<p>".join(f"<b a{n}>" for n in range(60_000)),
    ],
    ids=["large", "body", "html", "formatting"],
)
def test_pages_that_grow_out_of_proportion_are_refused(html: str) -> None:
    started = time.thread_time()
    with pytest.raises(TooComplexError):
        read_page(html, URL)
    assert time.thread_time() - started < 10


PIECE = st.sampled_from(
    ["<a href='", "'>", "<div itemscope>", "<p itemprop=x>", "<script type=application/ld+json>", "</script>", "{", "}",
     '"\\ud800"', "\0", "\ud800", "&#0;", "<title>", "<meta name=robots content=none>", "<base href=//x>", "<table>",
     "<td>", "http://[", "<meta http-equiv=refresh content='0;url=", "é", "<link rel=canonical href=x>"]
)  # fmt: skip


@given(st.lists(st.one_of(PIECE, st.text(max_size=5)), max_size=20))
def test_nothing_raises_and_everything_can_be_stored(pieces: list[Any]) -> None:
    page = read_page("".join(pieces), URL)
    stored = json.dumps(
        [page.structured, page.title, page.description, page.language, page.markdown]
    )
    assert "\\u0000" not in stored
    f"{page.title}{page.description}{page.language}{page.markdown}".encode()
    json.dumps(page.structured, ensure_ascii=False).encode()
    assert all(link.href.isascii() for link in page.links)


def test_many_line_breaks_take_linear_time() -> None:
    started = time.thread_time()
    assert read_page("<p>x" + "\n<br>" * 40_000 + "y", "http://e.com/").markdown.startswith("x")
    assert time.thread_time() - started < 5
