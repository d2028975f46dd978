"""Authors in the byline at a headline, where neither structured data nor the head names them."""

from __future__ import annotations

import re

from turbohtml import Element

from messor.content.datelines import headline_line, names_around
from messor.content.view import PageView
from messor.content.visible_lines import first_text

_ABOVE, _BELOW = 4, 12  # lines around the headline
_MAX_LINE = 140
_PART = r"[^\W\d_a-z][\w'\u2019.-]*"
_NAME = rf"{_PART}(?:\s(?:(?:van|von|de|der|den|di|da|del|la|le|bin|al)\s)*{_PART}){{1,3}}"
_NAMES = rf"{_NAME}(?:(?:,\s|,?\s(?:and|und|et|y|&)\s){_NAME}){{0,5}}"
_BY = re.compile(
    r"(?:^|[|\u2022\u00b7\u2013-]\s|\s)(?i:(?:written|posted|words|story|reviewed|published|article)?\s?by|authors?|von|par|por|di|door|text|autor(?:in)?)"
    rf"(?::\s?|\s)({_NAMES})"
)
_ALONE = re.compile(_NAMES)
_NAMED = re.compile(r"author|byline|writer|contributor|autor|verfasser", re.IGNORECASE)
# Words of the line that follow a name.
_AFTER = re.compile(
    r"\s(?:View|See|Read|Follow|Updated|Published|Posted|On|In|Last|Share|Contributor|Staff|Editor|Reviewed)\b.*$"
)
_JOINTS = re.compile(r",\s|,?\s(?:and|und|et|y|&)\s")


def written_authors(page: PageView, headline: str) -> list[str]:
    """Return the names in the byline: after "by", or alone in an element named after authors."""
    texts, firsts = page.visible_lines.texts, page.visible_lines.firsts
    title = headline_line(texts, headline)
    if title is None:
        return []
    near = range(max(0, title - _ABOVE), min(len(texts), title + _BELOW + 1))
    for number in sorted(near, key=lambda each: (each < title, abs(each - title))):
        text = " ".join(texts[number].split())
        if number == title or len(text) > _MAX_LINE:
            continue
        stated = _BY.search(text)
        names = stated[1] if stated else ""
        if not names and _ALONE.fullmatch(text):
            parent = first_text(firsts[number]).parent
            around = names_around(parent) if isinstance(parent, Element) else ""
            names = text if _NAMED.search(around) else ""
        if names:
            return [name for each in _JOINTS.split(names) if (name := _AFTER.sub("", each))]
    return []
