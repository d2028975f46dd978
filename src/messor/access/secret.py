"""Secrets that are shown once: random tokens that print as asterisks, and their fingerprints.

A token has 256 random bits, so a plain SHA-256 of it can be stored: nobody can try them all.
"""

from __future__ import annotations

import hashlib
import secrets

LONGEST = 200  # characters; what is longer is no token of ours


class Secret:
    """A text that no log, repr or JSON tells; `reveal()` is the one way to it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "***"


def new_token() -> Secret:
    """256 random bits, fit for URLs and cookies."""
    return Secret(secrets.token_urlsafe(32))


def fingerprint(token: str) -> bytes:
    """What is stored in a token's place; any text is taken, for anything may be sent."""
    return hashlib.sha256(token[:LONGEST].encode("utf-8", "surrogatepass")).digest()
