from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messor.web import urls
from messor.web.urls import LinkCache, LinkResolver


def test_parts_of_a_url() -> None:
    url = urls.parse("HTTPS://me:secret@Bücher.example:8443/a/../b c?q=1#top")
    assert url is not None
    assert url.href == "https://xn--bcher-kva.example:8443/b%20c?q=1"
    assert (url.scheme, url.host, url.port) == ("https", "xn--bcher-kva.example", 8443)
    assert url.authority == "xn--bcher-kva.example:8443"
    assert (url.path, url.query, url.target) == ("/b%20c", "q=1", "/b%20c?q=1")


def test_default_ports_and_addresses() -> None:
    plain = urls.parse("http://example.com:80")
    assert plain is not None
    assert (plain.href, plain.port, plain.authority) == ("http://example.com/", 80, "example.com")
    literal = urls.parse("http://[::1]:8080/")
    assert literal is not None
    assert (literal.host, literal.port) == ("[::1]", 8080)


@pytest.mark.parametrize(
    "text", ["", "ftp://a/", "mailto:a@b", "javascript:1", "http://", "x.html", "http://a b/"]
)
def test_only_web_urls_parse(text: str) -> None:
    assert urls.parse(text) is None


def test_length_is_capped() -> None:
    assert urls.parse("http://e.com/" + "a" * 1_000_000) is None
    assert urls.parse("http://e.com/" + "é" * 1_000) is None  # too long once escaped
    assert urls.parse("http://e.com/" + "a" * 4_000) is not None


@pytest.mark.parametrize(
    "one, other",
    [
        ("http://e.com/a?utm_source=x&b=1", "http://e.com/a?b=1"),
        ("http://e.com/a?gclid=x", "http://e.com/a"),
        ("http://e.com/a;jsessionid=0123ABCD?x=1", "http://e.com/a?x=1"),
        ("http://e.com/a?PHPSESSID=abc", "http://e.com/a"),
        (f"http://e.com/a?sid={'0af' * 11}", "http://e.com/a"),
        ("http://e.com./a", "http://e.com/a"),
        ("http://e.com/%7euser", "http://e.com/~user"),
        ("http://e.com/a?b=2&a=1", "http://e.com/a?a=1&b=2"),
    ],
)
def test_same_pages_hash_equally(one: str, other: str) -> None:
    assert urls.canonical(one) == urls.canonical(other)
    assert urls.url_hash(one) == urls.url_hash(other)


@pytest.mark.parametrize(
    "one, other",
    [
        ("http://e.com/a", "https://e.com/a"),
        ("http://e.com/a", "http://www.e.com/a"),
        ("http://e.com/a", "http://e.com/a/"),
        ("http://e.com/a", "http://e.com/A"),
        ("http://e.com/a%2Fb", "http://e.com/a/b"),
        ("http://e.com/a?b=c%26d", "http://e.com/a?b=c&d"),
        ("http://e.com/a?q=1%2B1", "http://e.com/a?q=1+1"),
        ("http://e.com/a?sid=7", "http://e.com/a"),
        ("http://e.com/to/http://x.com/", "http://e.com/to/http:/x.com/"),
    ],
)
def test_different_pages_hash_differently(one: str, other: str) -> None:
    assert urls.url_hash(one) != urls.url_hash(other)


def test_resolver_agrees_with_parse_and_remembers() -> None:
    cache = LinkCache()
    hrefs = [
        "/a",
        "b",
        "../c",
        "?d=1",
        "#e",
        "",
        "//o.com/x",
        "http://o.com/",
        "mailto:x@y",
        " f ",
        "http:g",
    ]
    for base in ("https://e.com/x/y.html?z", "https://e.com/w.html", "https://e.com/x/q"):
        for _ in range(2):
            resolved = LinkResolver(base, cache).resolve(hrefs)
            for href, link in zip(hrefs, resolved, strict=True):
                expected = urls.parse(href, base) if href[:1] not in ("", "#") else None
                assert (link and link.href) == (expected and expected.href)
                if link is not None:
                    assert link.url_hash == urls.url_hash(link.href)


def test_cache_stays_bounded() -> None:
    cache = LinkCache(max_entries=1_000)
    for page in range(200):
        LinkResolver(f"https://e.com/{page}/", cache).resolve(f"p{n}.html" for n in range(50))
    assert len(cache) <= 1_300


def test_a_followed_link_is_shared_and_a_nofollow_copy_is_not() -> None:
    (link,) = LinkResolver("https://e.com/").resolve(["/a"])
    assert link is not None
    assert link.as_nofollow().nofollow
    assert not link.nofollow


@given(st.text(), st.one_of(st.none(), st.text(), st.just("http://e.com/a/b?c")))
def test_nothing_raises(text: str, base: str | None) -> None:
    urls.parse(text, base)
    urls.url_hash(text)
    LinkResolver(base or "http://e.com/").resolve([text])


@given(st.text(alphabet="abc%/?&=;+.# 2FéA"))
def test_the_canonical_form_is_stable(tail: str) -> None:
    once = urls.canonical(f"http://e.com/{tail}")
    assert urls.canonical(once) == once


@pytest.mark.parametrize("host", [".", "..", "a..", "0x7f.1..", "a.", ".a."])
def test_dots_after_a_host_never_lead_to_another(host: str) -> None:
    once = urls.canonical(f"http://{host}/b")
    assert urls.canonical(once) == once
    assert once.endswith("/b")
    assert ("a/b" in once) == (host in ("a.", ".a."))


@pytest.mark.parametrize("tail", ["?=&&=", "?=", "?&", "a/..;jsessionid=1/b", ".;jsessionid=1"])
def test_what_is_left_of_a_url_is_in_canonical_form(tail: str) -> None:
    once = urls.canonical(f"http://e.com/{tail}")
    assert urls.canonical(once) == once


def test_a_base_that_is_no_url_spoils_no_absolute_link_of_other_pages() -> None:
    cache = LinkCache()
    odd = LinkResolver("ar", cache).resolve(["http://e.com/c", "/d"])
    assert odd[0] is not None
    assert odd[1] is None
    assert LinkResolver("http://e.com/", cache).resolve(["http://e.com/c"]) == odd[:1]


def test_an_overlong_base_shares_no_relative_link_with_other_pages() -> None:
    cache = LinkCache()
    base = "http://e.com/\\" + "x" * urls.MAX_URL_LENGTH
    for page in (base, "http://e.com/", base.replace("\\", "\\y/")):
        shared = LinkResolver(page, cache).resolve(["a", "?b", "/c"])
        assert shared == LinkResolver(page).resolve(["a", "?b", "/c"])


def test_whatwg_cases(corpus: Callable[[str], Any]) -> None:
    for row in corpus("url_whatwg.jsonl"):
        href = urls.resolve(row["input"], row["base"])
        assert href == (None if row["failure"] else row["href"]), row["id"]


def test_duplicate_pairs(corpus: Callable[[str], Any]) -> None:
    rows = corpus("url_dedup_pairs.json")
    same = [urls.url_hash(row["a"]) == urls.url_hash(row["b"]) for row in rows]
    assert not [row for row, equal in zip(rows, same, strict=True) if equal and not row["same"]]
    right = sum(row["same"] == equal for row, equal in zip(rows, same, strict=True))
    assert right / len(rows) >= 0.98


_HOSTS = [
    "e.com",
    "www.e-f.com",
    "1.2.3.com",
    "e.c0m",
    "e.1",
    "e.0x7",
    "0x7.1",
    "xn--bcher-kva.example",
    "xn--e.com",
    "e.xn--p1ai",
    "-e-.com",
    "aa--b.com",
    "e..com",
    "e_f.com",
    "E.com",
    "e.com.",
    "e.com:80",
    "e.com:8080",
    "127.1",
    "[::1]",
    "u@e.com",
]
_TAILS = st.text(alphabet="ab/AZ09-._~!$&'()*+,;=:@%2eE?#[]|^`{}\\\t \u00e9", max_size=24)


@given(st.sampled_from(["http", "https"]), st.sampled_from(_HOSTS), _TAILS)
def test_plain_addresses_parse_as_all_others_do(scheme: str, host: str, tail: str) -> None:
    """What is its own serialisation is not asked of the parser: an upper-case scheme always is."""
    for middle in ("/", ""):
        rest = f"://{host}{middle}{tail}"
        assert urls.parse(scheme + rest) == urls.parse(scheme.upper() + rest)
        within = urls.parse(scheme + rest, "https://base.test/a/b?c")
        assert within == urls.parse(scheme.upper() + rest, "https://base.test/a/b?c")


@given(st.sampled_from(["http://e.com/a/b?c", "https://u@e.com:81/q", "http://[::1]/"]), _TAILS)
def test_what_continues_its_origin_resolves_as_all_others_do(base: str, tail: str) -> None:
    href = f"/{tail}"
    (link,) = LinkResolver(base).resolve([href])
    url = urls.parse(href, base)
    found = (link.href, link.authority, link.url_hash) if link else None
    assert found == ((url.href, url.authority, urls.url_hash(url)) if url else None)


@given(
    st.sampled_from(
        ["http://e.com/a/b?c", "https://u@e.com:81/q", "http://[::1]/", "HTTP://E.com", "no", ""]
    ),
    st.sampled_from(["", "/", "//"]),
    _TAILS,
)
def test_what_a_site_shares_parses_as_all_else_does(base: str, start: str, tail: str) -> None:
    href = start + tail
    assert urls.parse_shared(href, base) == urls.parse(href, base)
    assert urls.parse_shared(href, base) == urls.parse(href, base)  # as remembered
    found = urls.parse(href, base)
    assert urls.address(href, base) == (found.href if found else None)


@pytest.mark.parametrize(
    "base",
    [
        "http://e.com",
        "http://e.com?x=/y",
        "http://e.com#/y",
        "http://e.com\\@f.com/y",
        "http:///e.com/y",
        "http:/e.com/y",
        "ht\ntp://e.com/y",
        "http://E.com/y",
        "http://1.2/y",
        "http://e.com:80/y",
        "https://e.com:80/y",
        "http://xn--e.com/y",
        "http://e.com/\ud800",
        "http://" + "e." * 200 + "com/y",
        "http://e.com/" + "y" * urls.MAX_URL_LENGTH,
        "mailto:a@b/c/d/e",
    ],
)
def test_what_begins_like_an_origin_may_be_none(base: str) -> None:
    found = urls.parse("/a", base)
    assert urls.parse_shared("/a", base) == found
    assert urls.address("/a", base) == (found.href if found else None)


def test_an_address_out_of_proportion_is_not_kept_in_memory() -> None:
    urls._parsed.cache_clear()
    urls._under.cache_clear()
    long = "a" * urls.MAX_URL_LENGTH
    assert urls.parse(f"{long}/b", "https://a.example/") is None
    assert urls.parse_shared(f"/{long}", "https://a.example/") is None
    assert urls.address(f"https://a.example/{long}", "https://a.example/") is None
    assert urls._parsed.cache_info().currsize == urls._under.cache_info().currsize == 0
