"""Mutation: new inputs out of seeds, by flips, splices, tokens and repeated slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from fuzz.seeds import SEPARATOR

MAX_SIZE = 65_536

_COMMON = (
    b"%", b"..", b"//", b"\\", b"\x00", b"*", b"$", b"#", b"?", b"&", b"=", b":", b";", b"@",
    b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xf4\x8f\xbf\xbf",
    b"\xe2\x80\xae", b"\xc4\xb0", b"\xcc\x81", b"\t", b"\r\n", b" ", b"\x0b", b"\xc2\xa0", b"\x7f",
    b"%00", b"%2e", b"%2F", b"%ff", b"%u0041", b"http://", b"0", b"9" * 20, b"-1", b"1e999", SEPARATOR,
)  # fmt: skip
_MARKUP = (
    b"<", b">", b"</", b"/>", b"<!", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?", b"<!DOCTYPE", b"&#x",
    b"&#", b"&amp;", b"&#xD800;", b"&#0;", b"&lt", b"'", b'"', b"[",
)  # fmt: skip
_TOKENS: dict[str, tuple[bytes, ...]] = {
    "url": (b"xn--", b"[::1]", b"/./", b"/../", b";jsessionid=", b"utm_x=1", b"(S(", b"."),
    "links": (b"xn--", b"/..", b"http:", b"javascript:", b"data:", b"\n", b"."),
    "robots": (
        b"User-agent: *\n", b"User-agent: messor\n", b"Disallow: /", b"Allow: /", b"*a", b"$\n",
        b"Crawl-delay: 1\n", b"Sitemap: http://e/\n", b"\n", b"<html",
    ),
    "sitemap": (
        *_MARKUP, b"<url>", b"<loc>", b"</loc>", b"<sitemap>", b"<link ", b"href=", b"<item>",
        b"<image:image>", b"<lastmod>", b"<entry>", b"\x1f\x8b\x08", b"&x;", b"0000-00", b"9999-12-31",
    ),
    "encoding": (
        *_MARKUP, b"<meta ", b"charset=", b"content=", b"http-equiv=", b"utf-16", b"x-user-defined",
        b"replacement", b"iso-2022-jp", b"gb18030", b"big5", b"\x1b$B", b"\x81\x30\x81\x30",
    ),
    "page": (
        *_MARKUP, b"<a href=", b"<table>", b"<tr>", b"<td>", b"<td colspan=1000 rowspan=9>", b"<b>",
        b"<p>", b"</p>", b"<font color=1>", b"<div>", b"</b>", b"<svg>", b"<math>", b"<template>",
        b"<select>", b"<script>", b"<script type=application/ld+json>", b"{", b"\\ud800", b"\\u0000",
        b"NaN", b"<ul><li>", b"<ol start=-9>", b"<blockquote>", b"<pre>", b"<code>", b"`", b"<base href=",
        b"<meta name=", b"<div itemscope itemref=a>", b"<span itemprop=a>", b"<form>", b"<frameset>",
        b"<img src=", b"<h1>", b"<nobr>", b"<button>", b"<title>", b"<textarea>", b"<plaintext>",
    ),
    "suffix": (b".", b"..", b"xn--", b"com", b"co.uk", b"*.ck", b"[", b"1.2.3.4"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sample:
    """One input; the part between `start` and `end` is what repeats, where something does."""

    data: bytes
    start: int = 0
    end: int = 0

    def grown(self, factor: float) -> bytes:
        """The input with its repeating part, or else the whole of it, so many times as long."""
        start, end = (self.start, self.end) if self.end > self.start else (0, len(self.data))
        part = self.data[start:end]
        repeated = part * int(factor) if factor >= 1 else part[: int(len(part) * factor)]
        return self.data[:start] + repeated + self.data[end:]


class Mutator:
    """An endless source of inputs for one target, the same for the same seed."""

    def __init__(self, target: str, seeds: Sequence[bytes], random: Random) -> None:
        self._seeds = seeds
        self._random = random
        self._tokens = _COMMON + _TOKENS.get(target, ())
        self._steps = (
            self._flip, self._splice, self._repeat, self._duplicate, self._delete,
            self._insert, self._insert,
        )  # fmt: skip

    def next(self) -> Sample:
        data = self._random.choice(self._seeds)
        for _ in range(self._random.choice((1, 1, 2, 3, 5, 8))):
            data = self._random.choice(self._steps)(data)[:MAX_SIZE]
        return self._pumped(data) if self._random.random() < 0.3 else Sample(data)

    def _slice(self, data: bytes, longest: int = 64) -> tuple[int, int]:
        start = self._random.randrange(len(data) + 1)
        return start, min(len(data), start + self._random.randint(1, longest))

    def _flip(self, data: bytes) -> bytes:
        changed = bytearray(data)
        for _ in range(self._random.randint(1, 4)):
            if changed:
                at = self._random.randrange(len(changed))
                changed[at] ^= 1 << self._random.randrange(8)
        return bytes(changed)

    def _splice(self, data: bytes) -> bytes:
        other = self._random.choice(self._seeds)
        cut, other_cut = self._slice(data)[0], self._slice(other)[0]
        return data[:cut] + other[other_cut:]

    def _repeat(self, data: bytes) -> bytes:
        start, end = self._slice(data)
        return data[:end] + data[start:end] * self._random.randint(1, 40) + data[end:]

    def _duplicate(self, data: bytes) -> bytes:
        start, end = self._slice(data, 512)
        at = self._slice(data)[0]
        return data[:at] + data[start:end] + data[at:]

    def _delete(self, data: bytes) -> bytes:
        start, end = self._slice(data, 256)
        return data[:start] + data[end:]

    def _insert(self, data: bytes) -> bytes:
        at = self._slice(data)[0]
        return data[:at] + self._random.choice(self._tokens) + data[at:]

    def _pumped(self, data: bytes) -> Sample:
        """A short slice, of the input or of tokens, repeated into a long run."""
        start, end = self._slice(data, self._random.choice((1, 8, 64)))
        unit = data[start:end]
        if not unit or self._random.random() < 0.5:
            unit = b"".join(self._random.choices(self._tokens, k=self._random.randint(1, 3)))
            end = start
        run = unit * max(1, 2 ** self._random.randint(9, 15) // len(unit))
        data = data[:start] + run + data[end:]
        return Sample(data, start, start + len(run))
