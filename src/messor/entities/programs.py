"""Funding programs across years and sites: by title, and by funder, deadline and amount."""

from __future__ import annotations

import re
from collections.abc import Iterable

from messor.entities.match import (
    EntityKind,
    Features,
    Match,
    Reading,
    SourceRecord,
    conflict,
    differ,
    shared,
)
from messor.entities.words import letters_of, words_of

_YEARS = re.compile(
    r"\b(?:fy\s?)?(?:19|20)\d\d(?:\s?[-/\u2013]\s?(?:(?:19|20)?\d\d))?\b", re.IGNORECASE
)
_ROUND = frozenset(
    ("round", "call", "cycle", "edition", "the", "of", "for", "and", "a", "an", "now", "open")
)


def title_words(text: str) -> str:
    """The words of a title without the year or round: next year's call is the same program."""
    return " ".join(sorted(words_of(_YEARS.sub(" ", text)) - _ROUND))


def read_program(source: SourceRecord) -> Reading | None:
    title = title_words(source.text("name"))
    if not title:
        return None
    amount = source.data.get("amount")
    features = {
        "title": {title},
        "funder": {letters_of(source.text("funder"))} - {""},
        "deadline": {source.text("deadline")[:10]} - {""},
        "amount": {f"{amount:g}"} if isinstance(amount, int | float) else set(),
        "region": {letters_of(source.text("region"))} - {""},
        "domain": {source.domain},
    }
    return Reading(title, features)


def program_keys(features: Features) -> Iterable[str]:
    yield from (f"title:{each}" for each in features["title"])
    for funder in features["funder"]:
        yield f"funder:{funder}"
    for title in features["title"]:
        words = sorted(title.split(), key=lambda word: (-len(word), word))[:3]
        if len(words) == 3:
            yield f"words:{' '.join(sorted(words))}"


def compare_programs(one: Features, other: Features) -> Match | None:
    if differ(one, other, "region"):
        return conflict("for different regions")
    if differ(one, other, "funder") and not shared(one, other, "domain"):
        return conflict("of different funders")
    (mine,), (theirs,) = one["title"], other["title"]
    a, b = set(mine.split()), set(theirs.split())
    agreeing = [name for name in ("funder", "deadline", "amount") if shared(one, other, name)]
    if a == b:
        return _of_one_title(one, other, agreeing, len(a))
    likeness = len(a & b) / len(a | b)
    if likeness >= 0.6 and len(agreeing) >= 2:
        score = 0.91 if (a < b or b < a) else 0.8
        return Match(score, "facts", f"similar titles, the same {' and '.join(agreeing)}")
    return None


def _of_one_title(one: Features, other: Features, agreeing: list[str], words: int) -> Match | None:
    if shared(one, other, "domain"):
        return Match(0.96, "title on site", "the same title on one site")
    if agreeing:
        return Match(0.94, "title and facts", f"the same title and {' and '.join(agreeing)}")
    return Match(0.75, "title", "the same title") if words >= 3 else None


PROGRAM = EntityKind(
    name="program",
    label="Program",
    plural="Programs",
    sources=frozenset(("funding_program",)),
    read=read_program,
    keys=program_keys,
    compare=compare_programs,
    title="name",
    fields=(
        "name",
        "funder",
        "amount",
        "currency",
        "deadline",
        "eligibility",
        "region",
        "description",
        "url",
    ),
    newest=frozenset(("amount", "currency", "deadline")),
)
