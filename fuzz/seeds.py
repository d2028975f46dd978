"""Seeds: what mutation starts from, out of the external corpora or, without them, a few built in.

A seed is bytes. Where a target takes two things (a URL and a page, a header and a body), the
first stands before SEPARATOR; a seed without one is all body.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SEPARATOR = b"\n--\n"
CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"

_WINDOW = 12_288  # large documents are cut: speed finds more than size does
_PAGES_PER_FOLDER = 40

_BUILT_IN: dict[str, tuple[bytes, ...]] = {
    "url": (
        b"http://user:pw@Example.com:8080/a/../b//c;jsessionid=1F?b=2&a=1&utm_source=x#top",
        "https://b\u00fccher.example/%7Euser/\u65e5\u672c?q=\u00e9+%2B&sid=".encode() + b"0f" * 16,
        b"http://[::1]:80/(S(abcdefghijklmnopqrstuvwx))/x.aspx",
        b"http://0x7f.1/%2e%2E/%41%zz?=&&=",
    ),
    "links": (
        b"http://example.com/a/b?c=d" + SEPARATOR + b"../x\n/y?z=1\n?q\n#f\n//h/p\nmailto:a@b\nc:d",
        b"https://example.org/" + SEPARATOR + b"http://example.org/\n./a b\n\\c\nHTTPS:e\n",
    ),
    "robots": (
        b"https://example.com/a/b.php?x=1"
        + SEPARATOR
        + b"User-agent: *\nDisallow: /a*b$\nAllow: /a/%61\nCrawl-delay: 2.5\nSitemap: /s.xml\n",
        b"\xef\xbb\xbfuser-agent: messor\r\nuser agent fuzz\rdisallow: /*a*a*a*b # c\n",
        b"<!DOCTYPE html><html><body>User-agent: *\nDisallow: /</body></html>",
    ),
    "sitemap": (
        (
            b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
            b' xmlns:xhtml="x"><url><loc><![CDATA[http://e.com/?a=1&amp;b]]></loc><lastmod>2024-02'
            b'</lastmod><xhtml:link rel="alternate" hreflang="de" href="http://e.com/de"/></url>'
            b"</urlset>"
        ),
        b"<!DOCTYPE x [<!ENTITY e 'v'>]><sitemapindex><sitemap><loc>http://e.com/&e;</loc>",
        (
            b"<rss><channel><item><link>http://e.com/1</link><guid>http://e.com/g</guid><pubDate>"
            b"Mon, 01 Jan 2024 00:00:00 +0100</pubDate></item></channel></rss>"
        ),
        (
            b'<feed><entry><link rel="alternate" href="http://e.com/2"/><updated>2024-01-01T00:00:00Z'
            b"</updated></entry></feed>"
        ),
        b"http://e.com/1\nhttp://e.com/2\r\nnonsense\n",
    ),
    "encoding": (
        b"text/html; charset=shift_jis" + SEPARATOR + b"\x83e\x83X\x83g",
        b'<!-- x --><meta http-equiv="Content-Type" content="text/html; charset=koi8-r">\xf0\xd2',
        "\ufeffh\u00e9llo".encode("utf-16"),
        "<?xml version='1.0' encoding='iso-2022-jp'?>\u00e9".encode(),
    ),
    "page": (
        b"http://example.com/dir/page"
        + SEPARATOR
        + b"<!doctype html><html lang=en><head><title>T</title><base href='/b/'><meta name=robots"
        b" content='noindex,nofollow'><meta http-equiv=refresh content='5; url=/next'><link"
        b" rel=canonical href='?c'><script type='application/ld+json'>{\"@type\":\"Product\"}"
        b"</script></head><body itemscope itemref='i'><a href=a rel=nofollow>a</a><area href=b>"
        b"<table><tr><td colspan=2>x<td>y</table><ul><li>1<li>2</ul><pre> z </pre><p id=i>text",
        b"<svg><math><mi><template><select><option><a><b><i><font><p></b></i><frameset>&#x0;&amp",
    ),
    "usage": (
        b"content-usage" + SEPARATOR + b'train-ai=y, search=n;why=x, exclude="q"',
        b"content-signal" + SEPARATOR + b"search=yes,ai-train=no, use=reference",
        b"tdm" + SEPARATOR + b"0",
        b"tdmrep"
        + SEPARATOR
        + b'[{"location": "/dir/*", "tdm-reservation": 0, "tdm-policy": "https://x.test/p"},'
        b' {"location": "/", "tdm-reservation": 1}]',
        b"rsl"
        + SEPARATOR
        + b'<rsl xmlns="https://rslstandard.org/rsl"><content url="/dir/*"><license>'
        b'<permits type="usage">ai-input search</permits><prohibits type="usage">ai-train</prohibits>'
        b'<payment type="free"/></license></content></rsl>',
        b"robots"
        + SEPARATOR
        + b"Content-Signal: search=yes\nUser-agent: *\nContent-Usage: /dir train-ai=y\n"
        b"Content-Usage: train-ai=n\nLicense: https://x.test/license.xml\n",
    ),
    "suffix": (b"www.example.co.uk", "b\u00fccher.example.\u4e2d\u56fd".encode(), b"a.github.io."),
}


def load_seeds(target: str, folder: Path = CORPORA) -> list[bytes]:
    """The seeds of a target, each of a moderate size."""
    found = list(_BUILT_IN[target])
    reader = _READERS.get(target)
    if reader is not None and folder.is_dir():
        for seed in reader(folder):
            found.append(seed[:_WINDOW])
            if len(seed) > 2 * _WINDOW:
                middle = len(seed) // 2
                found.append(seed[middle : middle + _WINDOW])
    return list(dict.fromkeys(found))


def _rows(path: Path) -> Iterator[Any]:
    if path.suffix == ".jsonl" and path.exists():
        for line in path.read_bytes().split(b"\n"):
            if line:
                yield json.loads(line)
    elif path.exists():
        yield from json.loads(path.read_bytes())


def _bytes(text: str | None) -> bytes:
    return (text or "").encode("utf-8", "surrogatepass")


def _urls(folder: Path) -> Iterator[bytes]:
    for row in _rows(folder / "url_whatwg.jsonl"):
        yield _bytes(row["input"])
    for row in _rows(folder / "url_normalize_crawlercommons.jsonl"):
        yield _bytes(row["input"])
    for row in _rows(folder / "url_dedup_pairs.json"):
        yield _bytes(row["a"])


def _links(folder: Path) -> Iterator[bytes]:
    for row in _rows(folder / "url_whatwg.jsonl"):
        yield _bytes(row.get("base")) + SEPARATOR + _bytes(row["input"])


def _robots(folder: Path) -> Iterator[bytes]:
    for row in _rows(folder / "robots_all.jsonl"):
        encoded = row.get("robots_txt_b64")
        body = base64.b64decode(encoded) if encoded else _bytes(row.get("robots_txt"))
        yield _bytes(row.get("url")) + SEPARATOR + body


def _sitemaps(folder: Path) -> Iterator[bytes]:
    for row in _rows(folder / "sitemaps.jsonl"):
        if row.get("content_b64"):
            yield base64.b64decode(row["content_b64"])


def _encodings(folder: Path) -> Iterator[bytes]:
    for row in _rows(folder / "encoding_html5lib.jsonl"):
        header = _bytes(row.get("content_type_header"))
        yield header + SEPARATOR + base64.b64decode(row["body_b64"])


def _pages(folder: Path) -> Iterator[bytes]:
    for name in ("spa_shells.jsonl", "structured_extruct.jsonl", "block_pages.jsonl"):
        for row in _rows(folder / name):
            yield _bytes(row["html"])
    for name in ("article_html", "product_html"):
        for path in sorted((folder / name).glob("*.html.gz"))[:_PAGES_PER_FOLDER]:
            yield gzip.decompress(path.read_bytes())


def _hosts(folder: Path) -> Iterator[bytes]:
    for row in _rows(folder / "psl.jsonl"):
        yield _bytes(row["input"])


_READERS: dict[str, Callable[[Path], Iterator[bytes]]] = {
    "url": _urls,
    "links": _links,
    "robots": _robots,
    "sitemap": _sitemaps,
    "encoding": _encodings,
    "page": _pages,
    "suffix": _hosts,
}
