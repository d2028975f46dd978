"""Validates typed text for storage: names and e-mail addresses."""

from __future__ import annotations

import re
import unicodedata

from messor.errors import UsageError

MAX_NAME_LENGTH = 100
MAX_EMAIL_LENGTH = 254  # RFC 5321, section 4.5.3.1.3 without the angle brackets
_EMAIL = re.compile(r"[^@\s\"(),:;<>\[\]\\]{1,64}@[^@\s\"(),:;<>\[\]\\]{1,253}")
# Control, format, surrogate, private and unassigned characters: invisible, or not storable.
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn")


def plain(text: str) -> str:
    """A text without invisible characters."""
    kept = (" " if one.isspace() else one for one in text if not _is_unseen(one) or one.isspace())
    return "".join(kept).strip()


def understand_email(text: str) -> str:
    """An e-mail address as it is stored and compared."""
    email = unicodedata.normalize("NFKC", text[: MAX_EMAIL_LENGTH + 1]).strip().lower()
    if len(email) > MAX_EMAIL_LENGTH or not _EMAIL.fullmatch(email) or any(map(_is_unseen, email)):
        raise UsageError("Give an e-mail address such as ada@example.org.")
    return email


def understand_name(text: str, what: str = "name") -> str:
    """A name of a member or of a key."""
    name = unicodedata.normalize("NFC", text[: MAX_NAME_LENGTH + 1]).strip()
    if not name or len(name) > MAX_NAME_LENGTH or any(map(_is_unseen, name)):
        raise UsageError(
            f"Give a {what} of 1 to {MAX_NAME_LENGTH} characters, without control characters."
        )
    return name


def _is_unseen(one: str) -> bool:
    return unicodedata.category(one) in _UNSEEN
