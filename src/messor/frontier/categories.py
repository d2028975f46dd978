"""Page categories: what a page is about, from its path, link text and title.

A cheap guess made before the page is read, for fetch order and sampling; it names the words it is
based on. What a page really contains is judged by extraction.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from messor.core.words import load, phrases

_LISTS = load("messor.frontier", "categories")
WORDS: Mapping[str, Mapping[str, str]] = _LISTS["categories"]
# Below these are articles, archives and accounts, whatever words they use.
_BY_THE_WAY = frozenset(each.replace("-", " ") for each in _LISTS["by_the_way"].split())
FORMAL = frozenset(_LISTS["formal"].split())  # terms, privacy, accounts
_FILLERS = frozenset(_LISTS["fillers"].split())
_LANGUAGES = frozenset(_LISTS["languages"].split())

HOME = "home"
CATEGORIES = (HOME, *WORDS)

LANDING_SCORE = (
    0.7  # from here on a page belongs to the category itself, not to one of many below it
)

_PARENT_WEIGHTS = (1.0, 0.6, 0.5, 0.4)  # of the last segment, the one before, …
_MAX_SEGMENTS = len(_PARENT_WEIGHTS) + 2  # longer paths lead to articles and the like
_ANCHOR_WEIGHT = 0.6
_TITLE_WEIGHT = 0.5
_ENOUGH = 0.4
_DOUBTFUL = 0.45  # of a word that has other meanings on many sites
_SURE = 0.9  # minimum score of a link's text against a path without cues
_MAX_WORDS = 4  # a segment of more words is the title of an article or product
_MAX_TEXT = 60  # maximum characters of an anchor or title that names a page

_HOME_PAGE = re.compile(
    r"(?:index|default|home|homepage|main|start|startseite|accueil|inicio)(?:\.\w+)?$",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(r"(?P<language>[a-z]{2,3})(?:[-_](?:[a-z]{2}|[a-z]{4}))?\Z")
_EXTENSION = re.compile(
    r"\.(?:html?|php\d?|aspx?|jspx?|shtml|xhtml|cfm|cgi|do|action)\Z", re.IGNORECASE
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BETWEEN = re.compile(
    r"[\s\-_+.,;:!?/\\|()\[\]{}'\"«»&·•~*#@\u2010-\u201f\u3000-\u3002\uff01-\uff0f]+"
)
# The same for ASCII, with case folded: bytes are translated at once, and nearly all paths are
# ASCII.
_ASCII_WORDS = bytes(
    ord(" ") if code < 128 and _BETWEEN.match(chr(code)) else code for code in range(256)
).lower()
_TITLE_PARTS = re.compile(r"\s+[-\u2013\u2014|·•»:]\s+|[|»·]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_PLAIN = str.maketrans(
    {"ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "\u0131": "i", "ß": "ss"}
)
_SPELT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "æ": "ae"})
# Han, kana, Hangul and Thai do not always separate words by spaces.
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]")


class Category(NamedTuple):
    """A page's likely category, its confidence (0 to 1), and the word it is based on."""

    name: str
    score: float
    cue: str


class _Cues(NamedTuple):
    exact: dict[str, Category]
    within: dict[str, str]  # phrases that also count in longer names → category
    beginnings: frozenset[str]  # their first words
    unspaced: tuple[tuple[str, str], ...]  # longest first


def _fold(text: str) -> str:
    """Fold case, width and accents; letters without a plain form are mapped to one."""
    text = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", text)).translate(_PLAIN)


def _words(text: str) -> list[str]:
    if text.isascii():
        return text.encode().translate(_ASCII_WORDS).decode().split()
    return list(filter(None, _BETWEEN.split(_fold(text))))


def _build() -> _Cues:
    exact: dict[str, Category] = {}
    within: dict[str, str] = {}
    for name, languages in WORDS.items():
        for phrase in phrases(",".join(languages.values())):
            mark, written = phrase[0], phrase.strip(" =!").casefold()
            for form in (written, written.translate(_SPELT)):
                folded = " ".join(_words(form))
                score = _DOUBTFUL if mark == "!" else 1.0
                exact.setdefault(folded, Category(name, score, folded))
                if mark not in "=!":
                    within.setdefault(folded, name)
    unspaced = sorted(
        ((key.replace(" ", ""), name) for key, name in within.items() if _UNSPACED.search(key)),
        key=lambda cue: (-len(cue[0]), cue[0]),
    )
    beginnings = frozenset(key.partition(" ")[0] for key in within)
    return _Cues(exact, within, beginnings, tuple(unspaced))


_CUES = _build()
# All words of all cues: text without any of them has no category.
_TELLING = frozenset(" ".join([*_CUES.exact, *_BY_THE_WAY, *FORMAL]).split())


def categorise(path: str, anchor: str = "", title: str = "") -> Category | None:
    """The category of a page, or None; `path` is as written in the URL.

    With a query ("/index.php?id=5") a root is not taken for the homepage.
    """
    path, _, query = path.partition("?")
    folder, _, last = path.rpartition("/")
    if last and _is_silent(folder) and _of_text(last) is None:  # the usual case
        return _weigh(None, anchor, title) if anchor or title else None
    segments = _segments(path)
    if not segments and not query:
        return Category(HOME, 1.0, path)
    found, by_the_way = _of_segments(segments)
    if by_the_way or not (anchor or title):
        return found
    return _weigh(found, anchor, title)


@lru_cache(maxsize=4096)
def _is_silent(folder: str) -> bool:
    """Whether there is a folder, and it says nothing about its pages."""
    segments = _segments(folder)
    return 0 < len(segments) < _MAX_SEGMENTS and not any(map(_of_text, segments))


def _segments(path: str) -> list[str]:
    """The segments of a path without its language; none for a homepage."""
    segments = list(filter(None, path.split("/")))
    for _ in range(2):
        if not segments or len(segments[0]) >= 8 or not is_language(segments[0]):
            break
        del segments[0]
    return [] if len(segments) == 1 and _HOME_PAGE.match(segments[0]) else segments


@lru_cache(maxsize=4096)
def is_language(segment: str) -> bool:
    """Whether a path segment is a language or country: "en", "de-DE", "pt_br"."""
    found = _LANGUAGE.match(segment.lower())
    return found is not None and found["language"] in _LANGUAGES


def _of_segments(segments: list[str]) -> tuple[Category | None, bool]:
    """The category by path, and whether the path leads through articles, accounts and the like."""
    best: Category | None = None
    if len(segments) > _MAX_SEGMENTS:
        return None, True
    for place, segment in enumerate(reversed(segments)):
        found = _of_text(segment)
        if found is None or (found.score == _DOUBTFUL and len(segments) > 1):
            continue
        if not found.name:
            return None, True
        if place < len(_PARENT_WEIGHTS):
            score = found.score * _PARENT_WEIGHTS[place]
            if score >= _ENOUGH and (best is None or score > best.score):
                best = found._replace(score=score)
    return best, False


@lru_cache(maxsize=32768)
def _of_text(text: str) -> Category | None:
    """The category by one segment, anchor or part of a title; unnamed for articles etc."""
    if "%" in text:
        text = unquote(text, errors="replace")
    if "." in text:
        text = _EXTENSION.sub("", text)
    if text != text.lower():
        text = _CAMEL.sub(" ", text)
    words = _words(text)
    if _TELLING.isdisjoint(words) and text.isascii():
        is_year = len(words) == 1 and _is_year(words[0])
        return Category("", 0.0, words[0]) if is_year else None
    whole = " ".join(words)
    found = _CUES.exact.get(whole)
    if found:
        return found
    if whole in _BY_THE_WAY or not FORMAL.isdisjoint(words) or _is_year(whole):
        return Category("", 0.0, whole)
    if not _CUES.beginnings.isdisjoint(words):
        return _within(words)
    return None if whole.isascii() else _unspaced(whole)


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdecimal() and word[:2] in ("19", "20")


def _within(words: list[str]) -> Category | None:
    """A phrase within a short name: "dental services", "contact sales", "menu 2024"."""
    content_words = [word for word in words if word not in _FILLERS and not word.isdecimal()]
    if len(words) > _MAX_WORDS + 2 or len(content_words) > _MAX_WORDS:
        return None
    best: Category | None = None
    for start, word in enumerate(words):
        if word not in _CUES.beginnings:
            continue
        for end in range(start + 1, len(words) + 1):
            cue = " ".join(words[start:end])
            name = _CUES.within.get(cue)
            if name:
                size = sum(word in content_words for word in words[start:end]) or 1
                share = size / max(len(content_words), size)
                if share >= 0.5 and (best is None or share > best.score):
                    best = Category(name, share, cue)
    return best and best._replace(score=0.5 + best.score * 0.45)


def _unspaced(whole: str) -> Category | None:
    if whole.isascii() or _UNSPACED.search(whole) is None:
        return None
    text = whole.replace(" ", "")
    for cue, name in _CUES.unspaced:
        if cue in text:
            share = len(cue) / len(text)
            return Category(name, min(1.0, 0.4 + share * 0.6), cue) if share >= 0.34 else None
    return None


def _weigh(found: Category | None, anchor: str, title: str) -> Category | None:
    """Combine what the path, the link's text and the title say."""
    scores = {found.name: found.score} if found else {}
    cues = {found.name: found.cue} if found else {}
    said_by = [(_of_text(part), _TITLE_WEIGHT) for part in _parts(title)]
    if 0 < len(anchor) <= _MAX_TEXT:
        said_by.append((_of_text(anchor), _ANCHOR_WEIGHT))
    for said, weight in said_by:
        if said and said.name and (said.score >= _SURE or said.name in scores):
            scores[said.name] = min(1.0, scores.get(said.name, 0.0) + said.score * weight)
            cues.setdefault(said.name, said.cue)
    if not scores:
        return None
    name = max(scores, key=lambda each: scores[each])
    return Category(name, scores[name], cues[name])


def _parts(title: str) -> list[str]:
    """The parts of "Contact us | Acme"; a long part is a headline and is ignored."""
    if not title:
        return []
    parts = [part.strip() for part in _TITLE_PARTS.split(title[:200])]
    return [part for part in parts if 0 < len(part) <= _MAX_TEXT // 2][:2]


def priority(category: Category | None, depth: int, *, listing: bool = False) -> int:
    """The priority of a page, 1 first and 10 last; 5 for an ordinary page.

    `listing` means that the page belongs to a pattern (see `traps.pattern_key`).
    """
    if listing or depth > 6:
        return 6
    if category is None:
        return 5
    if category.name == HOME:
        return 3
    return 4 if category.score >= LANDING_SCORE and depth <= 3 else 5
