"""Words of X-Robots-Tag and of meta robots that state something about use."""

from __future__ import annotations

from collections.abc import Collection

from messor.web.usage.statement import Answer, Statement, Use

STANDARD = "robots tag"
WORDS: dict[str, tuple[Use, ...]] = {
    "noindex": (Use.SEARCH,),
    "none": (Use.SEARCH,),
    "noarchive": (Use.ARCHIVE,),
    "nocache": (Use.ARCHIVE,),
    "nosnippet": (Use.AI_INPUT,),
    "noai": (Use.AI_INPUT, Use.AI_TRAIN),
}


def statements_of(words: Collection[str], place: str) -> list[Statement]:
    """The statements of the words that apply to us."""
    return [
        Statement(use, Answer.NO, STANDARD, place, word)
        for word, uses in WORDS.items()
        if word in words
        for use in uses
    ]
