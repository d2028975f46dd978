"""White space in text, told at the least cost: every line of every page is looked at for it."""

from __future__ import annotations


def has_plain_spaces(text: str) -> bool:
    """Whether a text is surely without white space other than the plain space."""
    if not text.isascii():
        return text.isprintable()  # of all white space only the plain space is
    # Nine times to look for a sign takes far less time than to look at every sign.
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
