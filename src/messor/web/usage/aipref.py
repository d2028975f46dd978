"""AIPREF: usage preferences of the IETF, as a Content-Usage header or rule of robots.txt.

draft-ietf-aipref-vocab and draft-ietf-aipref-attach. The value is a dictionary of RFC 9651 with the
tokens y and n; other keys are ignored, and a value that is not a dictionary states nothing that can
be relied on.
"""

from __future__ import annotations

from http_sf import StructuredFieldError, Token, parse

from messor.web.usage.statement import MAX_TEXT, Answer, Statement, Use

STANDARD = "AIPREF"
LABELS = {"train-ai": Use.AI_TRAIN, "search": Use.SEARCH}
_ANSWERS = {"y": Answer.YES, "n": Answer.NO}


def statements_of(value: str, place: str) -> list[Statement]:
    """The statements of one field value; several header lines are joined by commas before."""
    text = value[:MAX_TEXT]
    try:
        found = parse(value.encode("latin-1"), tltype="dictionary")
    except (StructuredFieldError, UnicodeEncodeError):
        return [Statement(use, Answer.UNKNOWN, STANDARD, place, text) for use in LABELS.values()]
    assert isinstance(found, dict)
    return [
        Statement(use, _answer(found[label]), STANDARD, place, text)
        for label, use in LABELS.items()
        if label in found
    ]


def _answer(item: object) -> Answer:
    """Parameters of an item are ignored."""
    bare = item[0] if isinstance(item, tuple) else item
    return _ANSWERS.get(str(bare), Answer.UNKNOWN) if isinstance(bare, Token) else Answer.UNKNOWN
