"""Content-Signal: `search=yes, ai-input=no, ai-train=no` in robots.txt or a header.

https://contentsignals.org. A signal that is absent states nothing.
"""

from __future__ import annotations

from messor.web.usage.statement import MAX_TEXT, Answer, Statement, Use

STANDARD = "Content-Signal"
LABELS = {"search": Use.SEARCH, "ai-input": Use.AI_INPUT, "ai-train": Use.AI_TRAIN}
_ANSWERS = {"yes": Answer.YES, "no": Answer.NO}


def statements_of(value: str, place: str) -> list[Statement]:
    """The statements of one value."""
    found = []
    for part in value.split(","):
        name, sign, choice = part.partition("=")
        use = LABELS.get(name.strip().lower())
        if use is None:
            continue
        answer = _ANSWERS.get(choice.strip().lower(), Answer.UNKNOWN) if sign else Answer.UNKNOWN
        found.append(Statement(use, answer, STANDARD, place, value[:MAX_TEXT]))
    return found
