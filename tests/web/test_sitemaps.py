from __future__ import annotations

import base64
import gzip
import itertools
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messor.web import sitemaps
from messor.web.sitemaps import parse_date, read

URLSET = b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'

RSS = b"""<rss><channel><link>http://e.com/</link><image><url>http://e.com/i</url></image>
<item><link>http://e.com/a</link></item><item><guid>http://e.com/b</guid></item></channel></rss>"""
ATOM = b"""<feed><link href="/"/><entry><link rel="edit" href="/e"/><link href="/a"/></entry>
<entry><link href="/b" rel="alternate"/></entry></feed>"""


def locs(body: bytes, **options: Any) -> list[str]:
    return [loc for loc, _ in read(body, **options).urls]


def test_a_url_set_with_extensions() -> None:
    body = URLSET + (
        b"<url><loc> http://e.com/a </loc><lastmod>2024-05-01T10:00:00+02:00</lastmod>"
        b"<image:image><image:loc>http://e.com/i.png</image:loc></image:image>"
        b'<xhtml:link rel="alternate" hreflang="de" href="http://e.com/de?a=1&amp;b=2"/></url>'
        b"<url><loc><![CDATA[http://e.com/b?x=1&y=2]]></loc></url></urlset>"
    )
    found = read(body)
    assert found.kind == "urlset"
    assert found.urls == [
        ("http://e.com/a", datetime(2024, 5, 1, 8, tzinfo=UTC)),
        ("http://e.com/b?x=1&y=2", None),
    ]
    assert found.alternates == ["http://e.com/de?a=1&b=2"]
    assert found.warnings == []


def test_an_index_and_a_prefixed_namespace() -> None:
    found = read(
        b"<sm:sitemapindex><sm:sitemap><sm:loc>http://e.com/s.xml</sm:loc></sm:sitemap></sm:sitemapindex>"
    )
    assert (found.kind, found.sitemaps) == ("index", [("http://e.com/s.xml", None)])


@pytest.mark.parametrize(
    "body, kind",
    [
        (b"\xef\xbb\xbfhttp://e.com/a\r\nnonsense\nhttp://e.com/b", "text"),
        (RSS, "rss"),
        (ATOM, "atom"),
        (b"<urlset><url><loc>http://e.com/a</loc><url><loc>http://e.com/b</lo", "urlset"),
        (gzip.compress(URLSET + b"<url><loc>/a</loc></url><url><loc>/b</loc></url>"), "urlset"),
        (
            (URLSET + b"<url><loc>/a</loc></url><url><loc>/b</loc></url>")
            .decode()
            .encode("utf-16"),
            "urlset",
        ),
    ],
)
def test_dialects_and_damage(body: bytes, kind: str) -> None:
    found = read(body, url="http://e.com/sitemap.xml")
    assert found.kind == kind
    assert [loc for loc, _ in found.urls] == ["http://e.com/a", "http://e.com/b"]


def test_a_url_cut_short_is_not_taken_for_whole() -> None:
    assert locs(b"<urlset><url><loc>http://e.com/lon") == []


def test_bare_ampersands_are_kept_as_written() -> None:
    assert locs(b"<urlset><url><loc>http://e.com/?a=1&copy=2</loc></url></urlset>") == [
        "http://e.com/?a=1&copy=2"
    ]


def test_entities_of_the_document_are_never_used() -> None:
    body = b'<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><urlset><url><loc>http://e.com/&f;</loc></url></urlset>'
    assert locs(body) == []
    declared = b"".join(b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 12))
    started = time.thread_time()
    assert (
        locs(b"<!DOCTYPE x [" + declared + b"]><urlset><url><loc>&l11;</loc></url></urlset>") == []
    )
    assert time.thread_time() - started < 2


def test_limits() -> None:
    many = URLSET + b"".join(b"<url><loc>http://e.com/%d</loc></url>" % n for n in range(200))
    found = read(many, limit=100)
    assert len(found.urls) == 100
    assert found.warnings == ["more than 100 entries; the rest was not read"]
    bomb = gzip.compress(b"\0" * 60_000_000, 1)
    assert sitemaps._TOO_LARGE in read(bomb).warnings


@pytest.mark.parametrize(
    "piece", [b"<", b"<>", b"<!--", b"<![CDATA[", b"<url>", b"<url><loc>http://a"]
)
def test_hostile_markup_takes_linear_time(piece: bytes) -> None:
    started = time.thread_time()
    read(b"<urlset>" + piece * (2_000_000 // len(piece)))
    assert time.thread_time() - started < 25


def test_a_long_run_within_a_link_tag_takes_linear_time() -> None:
    started = time.thread_time()
    read(b"<urlset>" + (b"<url><link " + b"a" * 16_000 + b">") * 20)
    assert time.thread_time() - started < 5


def test_other_documents_are_unknown() -> None:
    assert read(b"<html><body><a href='http://e.com/'>x</a></body></html>").kind == "unknown"
    assert read(b"").kind == "unknown"
    assert read(b"\x1f\x8bbroken").warnings == ["gzip data is damaged", "not a sitemap"]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("2024", datetime(2024, 1, 1, tzinfo=UTC)),
        ("2024-02", datetime(2024, 2, 1, tzinfo=UTC)),
        ("2024-02-03", datetime(2024, 2, 3, tzinfo=UTC)),
        ("2024-02-03T04:05Z", datetime(2024, 2, 3, 4, 5, tzinfo=UTC)),
        ("Thu, 05 Jan 2017 13:34:51 +0100", datetime(2017, 1, 5, 12, 34, 51, tzinfo=UTC)),
        ("05 Jan 17 13:34:55", None),
        ("2024-13", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_dates(text: str, expected: Any) -> None:
    assert parse_date(text) == expected


@given(st.text(max_size=40))
def test_dates_never_raise(text: str) -> None:
    parse_date(text)


PIECE = st.sampled_from(
    [b"<url>", b"</url>", b"<loc>", b"</loc>", b"http://e.com/", b"<", b">", b"&#0;", b"&#xd800;", b"<!--", b"-->",
     b"<rss>", b"<item>", b'<link href="/x">', b"<lastmod>", b"\x1f\x8b", b"\xff", b"<![CDATA["]
)  # fmt: skip


@given(st.lists(PIECE, max_size=20))
def test_nothing_raises(pieces: list[Any]) -> None:
    for loc, _ in read(b"".join(pieces), url="http://e.com/").urls:
        assert loc.isascii()


def test_stored_documents(corpus: Callable[[str], Any]) -> None:
    rows = corpus("sitemaps.jsonl")
    right = 0
    for row in rows:
        found = read(
            base64.b64decode(row["content_b64"]), url=row["url"], content_type=row["content_type"]
        )
        listed = sorted(loc for loc, _ in (found.sitemaps if row["is_index"] else found.urls))
        if row.get("allowed_outcomes") is not None:
            right += listed in [sorted(outcome) for outcome in row["allowed_outcomes"]]
        elif row["expected_pages"] is not None:
            right += listed == sorted(row["expected_pages"])
        else:
            right += len(listed) == row["expected_count"]
    assert right / len(rows) >= 0.95


@given(
    st.sampled_from(
        [
            b"<urlset><!-- <url> --><url><loc><![CDATA[https://a.example/?a=1&b]]></loc></url><!-->",
            b"<sitemapindex><sitemap><loc>https://a.example/&amp;</loc></sitemap><sitemap><loc>htt",
            b"https://a.example/1\r\nx\nhttps://a.example/2",
            gzip.compress(b"<urlset><url><loc>https://a.example/</loc></url></urlset>"),
            gzip.compress(gzip.compress(b"https://a.example/1\n"))[:-3],
            "<urlset><url><loc>https://a.example/\u00e9</loc></url>".encode("utf-16"),
        ]
    ),
    st.lists(st.integers(1, 12), min_size=1),
)
def test_pieces_of_any_size_read_like_the_whole(body: bytes, sizes: list[int]) -> None:
    reader = sitemaps.SitemapReader(url="https://a.example/")
    start = 0
    for size in itertools.cycle(sizes):
        reader.feed(body[start : start + size])
        start += size
        if start >= len(body):
            break
    assert reader.close() == sitemaps.read(body, url="https://a.example/")


def test_an_address_inside_another_element() -> None:
    entry = "<url><loc> <url>https://a.org/{}</url></loc></url>"
    body = f"<urlset>{entry.format(1)}{entry.format(2)}</urlset>".encode()
    assert [loc for loc, _ in read(body).urls] == ["https://a.org/1", "https://a.org/2"]
