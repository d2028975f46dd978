"""RSL: Really Simple Licensing 1.0, a document of licences by location.

https://rslstandard.org/rsl. The most specific location counts. Several licences of a location are
alternatives: one that permits a use is enough. `permits` is a closed list, `prohibits` beats it, and
a licence without payment is free.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from messor.web.robots_rules import Pattern, normalise, robots_path
from messor.web.usage.statement import MAX_TEXT, Answer, Statement, Use

STANDARD = "RSL"
MAX_BYTES = 1_000_000
MAX_DEPTH = 30
_AI = (Use.AI_INPUT, Use.AI_TRAIN)
# Training and mining have no token of their own apart from these.
TOKENS: dict[str, tuple[Use, ...]] = {
    "all": tuple(Use),
    "ai-all": _AI,
    "ai-train": (Use.AI_TRAIN,),
    "ai-input": (Use.AI_INPUT,),
    "ai-index": (Use.AI_INPUT,),
    "search": (Use.SEARCH,),
}
STATED = (Use.SEARCH, *_AI)  # uses that RSL has words for
_DOCTYPE = re.compile(rb"<!\s*(DOCTYPE|ENTITY)", re.IGNORECASE)
_RANK = {Answer.YES: 0, Answer.PAID: 1, Answer.UNKNOWN: 2, Answer.NO: 3}


def statements_of(body: bytes, url: str, place: str) -> list[Statement]:
    """What a document states of a URL; empty if no location matches."""
    root = _parsed(body)
    if root is None:
        return [
            Statement(use, Answer.UNKNOWN, STANDARD, place, "It cannot be read.") for use in STATED
        ]
    content = _most_specific(root, robots_path(url))
    if content is None:
        return []
    licences = [one for one in content if _name(one) == "license"]
    text = ET.tostring(content, "unicode")[:MAX_TEXT]
    return [
        Statement(use, answer, STANDARD, place, text)
        for use in STATED
        if (answer := _best(licences, use)) is not None
    ]


def _parsed(body: bytes) -> ET.Element | None:
    """The root element; entities and document types are refused before anything expands them."""
    if len(body) > MAX_BYTES or _DOCTYPE.search(body):
        return None
    try:
        root = ET.fromstring(body)  # noqa: S314 - without entities nothing can expand
    except (ET.ParseError, ValueError):
        return None
    return root if _name(root) == "rsl" and not _is_deep(root) else None


def _is_deep(root: ET.Element) -> bool:
    """Whether elements nest deeper than any licence does; what writes them out recurses."""
    level = [root]
    for _ in range(MAX_DEPTH):
        level = [child for one in level for child in one]
    return bool(level)


def _name(element: ET.Element) -> str:
    return str(element.tag).rpartition("}")[2]  # of a comment it is a function


def _most_specific(root: ET.Element, path: str) -> ET.Element | None:
    matching = [
        (len(location), content)
        for content in root
        if _name(content) == "content" and _matches(location := _location(content), path)
    ]
    return max(matching, key=lambda one: one[0])[1] if matching else None


def _location(content: ET.Element) -> str:
    """The path of a location; an address of the same site is cut to its path."""
    url = (content.get("url") or "/").strip()
    return robots_path(url) if "://" in url else url


def _matches(location: str, path: str) -> bool:
    anchored = location.endswith("$")
    text = location[:-1] if anchored else location
    escaped = normalise(text.encode("utf-8", "replace").decode("latin-1"))
    return Pattern(escaped, len(escaped), None, anchored=anchored).matches(path)


def _best(licences: list[ET.Element], use: Use) -> Answer | None:
    """The best offer among alternatives; None if none of them speaks of uses."""
    answers = [answer for one in licences if (answer := _answer(one, use)) is not None]
    return min(answers, key=_RANK.__getitem__) if answers else None


def _answer(licence: ET.Element, use: Use) -> Answer | None:
    prohibited = set(_uses(licence, "prohibits"))
    permits = [one for one in licence if _is_of_usage(one, "permits")]
    if use in prohibited:
        return Answer.NO
    if permits:
        if use not in set(_uses(licence, "permits")):
            return Answer.NO
    elif not prohibited and not _payments(licence):
        return None
    return Answer.YES if _payments(licence) <= {"free"} else Answer.PAID


def _is_of_usage(element: ET.Element, name: str) -> bool:
    return _name(element) == name and element.get("type", "usage") == "usage"


def _uses(licence: ET.Element, name: str) -> Iterator[Use]:
    for element in licence:
        if _is_of_usage(element, name):
            for token in re.split(r"[\s,]+", (element.text or "").strip().lower()):
                yield from TOKENS.get(token, ())


def _payments(licence: ET.Element) -> set[str]:
    """What is asked for; naming the author costs nothing."""
    found = {one.get("type", "free").lower() for one in licence if _name(one) == "payment"}
    return found - {"attribution"}
