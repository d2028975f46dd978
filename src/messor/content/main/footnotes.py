"""Footnotes: references within the text, and the notes that lead back to them."""

from __future__ import annotations

import re

from messor.content.main.blocks import Markup

_REFERENCE = re.compile(r"#.{0,40}?(?:fn|note|cite|ftn|ref|endn)", re.IGNORECASE)
_LABEL = re.compile(r"\\?[\[(]?\s?(\d{1,3}|[a-z*\u2020\u2021])\s?\\?[\])]?")
# A way back has no text of its own.
_BACK = re.compile(r"#.{0,40}?(?:ref|back|cite|ftn|fn|note|body)", re.IGNORECASE)
_ARROW = re.compile(r"[\u21a9\u2191\u2934\u21a5^\ufe0e\s]+|jump up|back|\u21b5")


def reference(href: str, inner: str) -> str:
    """Return a reference in markdown for a link to a note; empty if it is another link."""
    label = _LABEL.fullmatch(inner) if _REFERENCE.match(href) else None
    return "" if label is None else f"[^{label[1]}]"


def is_way_back(href: str, inner: str) -> bool:
    """Whether a link leads from a note back into the text."""
    return bool(_BACK.match(href)) and _ARROW.fullmatch(inner.lower()) is not None


def is_note(markup: Markup | None) -> bool:
    """Whether a block is a note: a link in it leads back."""
    if markup is None:
        return False
    pieces, marks = markup
    return any(
        mark == "a"
        and value.startswith("#")
        and is_way_back(value, "".join(pieces[start:end]).strip())
        for start, end, mark, value in marks
    )
