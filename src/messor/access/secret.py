"""Secrets that are shown once: random tokens that print as asterisks, and their fingerprints.

A token has 256 random bits, so a plain SHA-256 of it can be stored: brute force is infeasible.
"""

from __future__ import annotations

import hashlib
import secrets

MAX_LENGTH = 200  # characters; anything longer is not one of our tokens


class Secret:
    """A text that never appears in logs, repr or JSON; only `reveal()` returns it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "***"


def new_token() -> Secret:
    """256 random bits, safe in URLs and cookies."""
    return Secret(secrets.token_urlsafe(32))


def fingerprint(token: str) -> bytes:
    """The hash stored instead of a token; accepts any text, because anything may be sent."""
    return hashlib.sha256(token[:MAX_LENGTH].encode("utf-8", "surrogatepass")).digest()
