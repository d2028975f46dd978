"""Similarity of names, and the heading that names a page's subject: the one most like its titles."""

from __future__ import annotations

import re

from turbohtml import Document, Element

from messor.content.products.texts import Texts

_WORD = re.compile(r"\w+")
_LONGEST = 400
MAX_HEADINGS = 60

_FIRST_RANK = 0.4
_MAX_SCORE = 1.0 + _FIRST_RANK  # maximum similarity

Named = tuple[Element | None, frozenset[str]]  # a heading and its words


def words_of(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()[:_LONGEST]))


def likeness(name: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the shorter name's words that both have, 0 to 1."""
    if not name or not other:
        return 0.0
    return len(name & other) / min(len(name), len(other))


def heading_of(document: Document, texts: Texts, titles: list[str]) -> Named:
    """Return the heading most similar to the page's titles; an h2 must be much more similar."""
    names = [words_of(title) for title in titles if title]
    return _only_one(document, texts, names) or _best(texts.headings()[:MAX_HEADINGS], names)


def _only_one(document: Document, texts: Texts, names: list[frozenset[str]]) -> Named | None:
    """Return the only h1 if no other heading could be better, without a tree walk."""
    firsts = document.select("h1")
    if len(firsts) != 1 or len(document.select("h2")) >= MAX_HEADINGS:
        return None
    heading = firsts[0]
    own = _words_in(heading)
    if own is None or _score(heading, own, names) < _MAX_SCORE or not texts.hold(heading):
        return None
    return heading, own


def _best(headings: list[Element], names: list[frozenset[str]]) -> Named:
    best: Named = None, frozenset()
    best_score = -1.0
    for heading in headings:
        own = _words_in(heading)
        if own is None:
            continue
        score = _score(heading, own, names)
        if score > best_score:
            best, best_score = (heading, own), score
        if best_score >= _MAX_SCORE:
            break
    return best


def _words_in(heading: Element) -> frozenset[str] | None:
    """Return the words of a heading, None if it is empty."""
    text = heading.text
    return None if text.isspace() or not text else words_of(text)


def _score(heading: Element, own: frozenset[str], names: list[frozenset[str]]) -> float:
    alike = [likeness(own, name) * min(1.0, len(own & name) / 2) for name in names]
    return max(alike, default=0.0) + (_FIRST_RANK if heading.tag == "h1" else 0.0)
