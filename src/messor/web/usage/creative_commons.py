"""Creative Commons marks: what a licence that a page names permits, and nothing that it does not.

A licence grants; it reserves nothing, so it never refuses. Grants that depend on who uses the page
(NC) state nothing here, and one without derivatives (ND) does not permit training.
https://creativecommons.org/licenses/
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from messor.web.usage.statement import MAX_TEXT, Answer, Statement, Use

STANDARD = "Creative Commons"
HOST = "creativecommons.org"
_AS_IT_IS = (Use.SEARCH, Use.AI_INPUT, Use.TDM, Use.ARCHIVE)
_GRANTS: dict[str, tuple[Use, ...]] = {
    "licenses/by": tuple(Use),
    "licenses/by-sa": tuple(Use),
    "licenses/by-nd": _AS_IT_IS,
    "publicdomain/zero": tuple(Use),
    "publicdomain/mark": tuple(Use),
}
# The version, and the country of older ones.
_MARK = re.compile(
    r"https?://(?:www\.)?creativecommons\.org/(licenses/[a-z-]+|publicdomain/(?:zero|mark))/\d\.\d"
    r"(?:/[a-z]{2,3})?(?:/(?:deed(?:\.[a-z-]{2,8})?|legalcode(?:\.[a-z-]{2,8})?)?)?",
    re.IGNORECASE,
)


def statements_of(licences: Iterable[str], place: str) -> list[Statement]:
    """What the licences that a page names permit; other addresses state nothing."""
    found = []
    for address in licences:
        mark = _MARK.fullmatch(address.strip())
        if mark is not None:
            text = address.strip()[:MAX_TEXT]
            uses = _GRANTS.get(mark[1].lower(), ())
            found += [Statement(use, Answer.YES, STANDARD, place, text) for use in uses]
    return found
