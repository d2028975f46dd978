"""Cheap white space check, run on every line of every page."""

from __future__ import annotations


def has_plain_spaces(text: str) -> bool:
    """Whether a text certainly has no white space other than plain spaces."""
    if not text.isascii():
        return text.isprintable()  # the plain space is the only printable white space
    # Nine `find()` calls beat a per-character scan.
    return not (
        "\n" in text
        or "\t" in text
        or "\r" in text
        or "\f" in text
        or "\v" in text
        or "\x1c" in text
        or "\x1d" in text
        or "\x1e" in text
        or "\x1f" in text
    )
