"""The pages that the model learns from: their layout, and how much of each block people marked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from bench.articles import load_pages as load_articles
from bench.truth.corpora import slice_of
from bench.truth.wcxb import bag, load_pages
from rapidfuzz.distance import LCSseq

from messor.content.lists import Lists
from messor.content.main.blocks import Layout
from messor.content.main.extract import Outline, outline
from messor.web.html import parse_document

_words = re.compile(r"\w+").findall


@dataclass
class Case:
    """One page with the share of each block's words that is in the marked text."""

    slice: str
    corpus: str
    type: str
    site: str
    outline: Outline
    shares: list[float]
    bags: list[Counter[str]]
    wanted: Counter[str]

    @property
    def layout(self) -> Layout:
        return self.outline.layout


def load_cases() -> list[Case]:
    """Return all pages with text, seen and held."""
    return [case for case in _cases() if case.shares]


def _cases() -> Iterator[Case]:
    for slice_, row, html in load_pages():
        yield _case(slice_, "wcxb", row["page_type"], row["url"], html, row["main_content"])
    for page in load_articles():
        slice_ = slice_of(page.url, page.name)
        yield _case(slice_, "articles", "article", page.url, page.html, page.body)


def _case(slice_: str, corpus: str, type_: str, url: str, html: str, wanted: str) -> Case:
    found = outline(parse_document(html), url, Lists())
    texts = found.layout.blocks.texts
    site = (urlsplit(url).hostname or url).removeprefix("www.")
    return Case(
        slice_, corpus, type_, site, found, _shares(texts, wanted), list(map(bag, texts)), bag(wanted)
    )  # fmt: skip


def _shares(texts: list[str], wanted: str) -> list[float]:
    """Align the page's words with the marked ones in order; return each block's share."""
    owners, words = [], []
    for place, text in enumerate(texts):
        own = _words(text.lower())
        words += own
        owners += [place] * len(own)
    sizes, hits = Counter(owners), Counter[int]()
    target = _words(wanted.lower())
    if words and target:
        for step in LCSseq.opcodes(words, target):
            if step.tag == "equal":
                hits.update(owners[step.src_start : step.src_end])
    return [hits[place] / sizes[place] if sizes[place] else 0.0 for place in range(len(texts))]
