"""Text that a database can store."""

from __future__ import annotations


def storable(text: str) -> str:
    """The text without NUL characters and lone surrogates, which PostgreSQL rejects."""
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "ignore").decode()
    return text


def one_line(text: str, limit: int) -> str:
    """Storable, white space collapsed, cut to a length."""
    if len(text) <= limit and text.isprintable() and "  " not in text:
        return text.strip()  # isprintable() excludes surrogates and all white space but the space
    return storable(" ".join(text[: 4 * limit].split())[:limit])
