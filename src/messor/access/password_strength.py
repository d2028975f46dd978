"""How easily a password is guessed: from lists of leaked ones, and from the account's own data.

zxcvbn knows the most common passwords, names and words, keyboard rows, dates, and letters replaced
by symbols. It is loaded on first use: most processes never need it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from messor.access.errors import WeakPasswordError

MIN_GUESSES = 10**9  # refuses "Summer2026!!!" and accepts three or four words in a row
OWN_WORDS = ("messor", "crawler", "console")
# Long enough for any rule, yet on every list; letters and digits only.
FAMOUS = frozenset({"correcthorsebatterystaple", "tobeornottobe", "thequickbrownfox"})
_MAX_CHECKED = 72  # characters; the search time grows with their square
_SHORTEST_WORD = 3
_MIN_BESIDE = 6  # letters and digits besides the account's own words
_BETWEEN = re.compile(r"[\W_]+")


def check_guessing(password: str, *, email: str, name: str) -> None:
    """Reject a password that is common or made of the account's own words; expects it normalised."""
    own = _words(email, name)
    if _beside(password, own) < _MIN_BESIDE:
        raise WeakPasswordError(
            "The password must not consist mainly of the member's name or e-mail address, or the "
            "product's name. Choose something unrelated, such as four random words."
        )
    if _bare(password) in FAMOUS or _guesses(password, own) < MIN_GUESSES:
        raise WeakPasswordError(
            "This password is too common or too easy to guess. Use four random words, or let a "
            "password manager generate one."
        )


def _words(*texts: str) -> list[str]:
    """The texts and their parts, in lower case, longest first."""
    found = {_bare(text) for text in texts} | set(OWN_WORDS)
    for text in texts:
        found.update(_bare(part) for part in _BETWEEN.split(text))
    return sorted((word for word in found if len(word) >= _SHORTEST_WORD), key=len, reverse=True)


def _beside(password: str, own: Iterable[str]) -> int:
    """How many letters and digits are left without those words."""
    rest = _bare(password)
    if not rest:
        return len(password)
    for word in own:
        rest = rest.replace(word, "")
    return len(rest)


def _guesses(password: str, own: list[str]) -> int:
    from zxcvbn import zxcvbn  # noqa: PLC0415 - 16 MB of words, which most processes never need

    seen = password[:_MAX_CHECKED].encode("utf-8", "replace").decode()
    return int(zxcvbn(seen, user_inputs=list(own))["guesses"])


def _bare(text: str) -> str:
    return "".join(one for one in text.casefold() if one.isalnum())
