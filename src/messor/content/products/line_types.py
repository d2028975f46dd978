"""Types of short texts on a page: labels, reviews, stock notes, headings of other products.

A cheap check that tells, as for most pages, that a page has none of them; the readers
handle their positions.
"""

# ruff: noqa: RUF001 - homoglyphs of Latin letters are intended

from __future__ import annotations

import re
from collections.abc import Collection
from collections.abc import Set as AbstractSet

from messor.content.memory import Memory
from messor.content.plain import one_space
from messor.content.products.normalise import availability
from messor.content.products.words import (
    ANY_LABEL,
    IN_STOCK,
    OTHERS,
    OUT_OF_STOCK,
    STATES,
    kinds_in,
)

MAX_LABELLED = 120
MAX_REVIEW = 60
MAX_STOCK = 40
MAX_HEAD = 59

RATING, REVIEW_COUNT = "rating", "review_count"
STOCK, OTHER = "s", "o"

AROUND_LABEL = " .:：#-\xa0\u200e\u200f\n\r\t"
SPLIT = re.compile(r"[:：]")
# Label prefixes; a two-letter label is followed by a sign, a space or nothing.
_BEGINNINGS = frozenset(label[:3] for label in ANY_LABEL) | {
    label + sign
    for label in ANY_LABEL
    if len(label) < 3
    for sign in (*AROUND_LABEL, *(c for c in map(chr, range(0x3001)) if c.isspace()))
}
# Conditional sentences.
_DEPENDS = re.compile(
    r"(?:if|when|wenn|falls|si|se|als|jeśli|pokud|если|notify|email|e-mail)\b", re.IGNORECASE
)
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_WITH_NUMBER = re.compile(r"\W*\d")
_OUT_OF_FIVE = re.compile(
    r"^\W*[0-5](?:[.,]\d{1,2})?\s?(?:/|out of|von|sur|su|de|van|av|af|z|из|of)\s?5\b", re.IGNORECASE
)
_REVIEWS = re.compile(
    r"^\W*\d[\d.,\s]{0,9}\s?(?:customer |global |product )?(?:reviews?|ratings?|bewertung|sternebew|rezension|avis|évaluation"
    r"|opiniones|valoracion|reseña|avaliaç|opiniões|recension|recensie|beoordeling|anmeld|omdöme|opinii|hodnocen|hodnoten"
    r"|отзыв|оцен|відгук|değerlendirme|yorum|件|評価|則評價|리뷰|đánh giá)",
    re.IGNORECASE,
)


def labels_and_reviews(texts: AbstractSet[str], memory: Memory) -> dict[str, str]:
    """Return, by line, the label it starts with or the review field it states.

    Texts may have surrounding white space; the returned lines do not.
    """
    types = memory.texts(_classify_labels_and_reviews).lookup(texts)
    return {text.strip(): what for text, what in types.items()}


def stock_notes_and_others(texts: AbstractSet[str], memory: Memory) -> dict[str, str]:
    """Return the texts that are STOCK notes or headings of OTHER products, or both.

    Texts are returned as given, with any surrounding white space.
    """
    return memory.texts(_classify_stock_and_others).lookup(texts)


def all_line_types(
    texts: AbstractSet[str], memory: Memory
) -> tuple[dict[str, str], dict[str, str]]:
    """Return both results for the same texts, with a single lookup."""
    types = memory.texts(_classify_all).lookup(texts)
    labelled = {text.strip(): label for text, (label, _) in types.items() if label}
    return labelled, {text: kinds for text, (_, kinds) in types.items() if kinds}


def _classify_all(texts: Collection[str]) -> dict[str, tuple[str, str]]:
    labelled, noted = _classify_labels_and_reviews(texts), _classify_stock_and_others(texts)
    return {
        text: (labelled.get(text, ""), noted.get(text, ""))
        for text in labelled.keys() | noted.keys()
    }


def _classify_labels_and_reviews(texts: Collection[str]) -> dict[str, str]:
    # A label has one of a few prefixes, or a sign before it; a review does not start with a letter.
    # Neither does a text with leading white space, which is checked once stripped.
    begun = [x for x in texts if x[:3].lower() in _BEGINNINGS or not x[:1].isalpha()]
    return {
        text: what
        for text, line in [(text, text.strip()) for text in begun]
        if (line[:3].lower() in _BEGINNINGS or not line[:1].isalpha())
        and (what := _label_of(line) or _review_of(line))
    }


def _label_of(line: str) -> str:
    """Return the product label a line starts with, if any."""
    if len(line) > MAX_LABELLED:
        return ""
    label = SPLIT.split(line, maxsplit=1)[0].strip(AROUND_LABEL).lower()
    return label if label in ANY_LABEL else ""


def _review_of(line: str) -> str:
    """Return the review field a line states."""
    if len(line) > MAX_REVIEW or not _WITH_NUMBER.match(line):
        return ""
    if _OUT_OF_FIVE.search(line):
        return RATING
    return REVIEW_COUNT if _REVIEWS.search(line) else ""


def _classify_stock_and_others(texts: Collection[str]) -> dict[str, str]:
    # All contain letters, unlike the prices and numbers that are unique to most pages.
    lines = {
        text: line
        for text in texts
        if _LETTER.search(text) and len(line := text.strip()) <= MAX_HEAD
    }
    if not lines:
        return {}
    stock, others = _notes_on_stock(lines.values()), _heads_of_others(lines.values())
    matching = stock | others
    return {
        text: (STOCK if line in stock else "") + (OTHER if line in others else "")
        for text, line in lines.items()
        if line in matching
    }


def _notes_on_stock(lines: Collection[str]) -> set[str]:
    short = [line for line in lines if not _DIGIT.search(line)]
    if not short:
        return set()
    plain = [one_space(line).lower() for line in short]
    kinds = kinds_in(plain, ((STOCK, _STOCK_WORDS),))
    return {
        line
        for line, kind, name in zip(short, kinds, _last_parts(plain), strict=True)
        if (kind or name in STATES) and _is_note(line, availability(line))  # the final check
    }


def _is_note(line: str, state: str | None) -> bool:
    """Whether a line with a state is a stock note; only "out of stock" may be a longer sentence."""
    if state is None or len(line) <= MAX_STOCK:
        return state is not None
    if state != "out_of_stock" or _DEPENDS.match(line):
        return False
    rest = one_space(line).lower()
    for phrase in OUT_OF_STOCK:
        rest = rest.replace(phrase, " ")
    return availability(rest) is None  # otherwise it says both, of the shop and of its branches


def _last_parts(plain: list[str]) -> list[str]:
    """Return the texts as program identifiers; of a URL, its last part."""
    joined = "\n".join(plain).replace(" ", "").replace("_", "").replace("-", "")
    names = joined.split("\n") if plain else []
    return [name.rstrip("/").rpartition("/")[2] if "/" in name else name for name in names]


def _heads_of_others(lines: Collection[str]) -> set[str]:
    kinds = kinds_in([line.lower() for line in lines], ((OTHER, _OTHERS),))
    return {line for line, kind in zip(lines, kinds, strict=True) if kind}


def _shortest(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words without those that contain another of them."""
    return tuple(
        word for word in words if not any(other != word and other in word for other in words)
    )


_STOCK_WORDS = _shortest((*OUT_OF_STOCK, *IN_STOCK))
_OTHERS = _shortest(OTHERS)
