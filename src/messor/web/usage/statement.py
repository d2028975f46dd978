"""One statement of a site about one use, and the decision that several statements make together.

The most restrictive statement wins. Silence is neither a permission nor a refusal; a statement that
cannot be understood is unknown, never a permission.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

MAX_TEXT = 500


class Use(StrEnum):
    """What somebody does with content."""

    SEARCH = "search"  # an index that leads people to the page
    AI_INPUT = "ai-input"  # grounding, retrieval and summaries by a model
    AI_TRAIN = "ai-train"
    TDM = "tdm"  # text and data mining
    ARCHIVE = "archive"  # showing a stored copy


class Answer(StrEnum):
    """What a statement says of a use."""

    YES = "yes"
    NO = "no"
    PAID = "paid"  # only under a licence that costs something
    UNKNOWN = "unknown"


class Statement(NamedTuple):
    """What one line or header says of one use."""

    use: Use
    answer: Answer
    standard: str
    place: str  # such as "robots.txt, line 12"
    text: str  # as written


class UsageDecision(NamedTuple):
    """The answer for a use; None where the site is silent."""

    use: Use
    answer: Answer | None
    by: Statement | None


_STRICTNESS = {Answer.NO: 3, Answer.PAID: 2, Answer.UNKNOWN: 1, Answer.YES: 0}
# Training a model is mining text: who reserves the latter does not permit the former.
_REFUSED_WITH = {Use.AI_TRAIN: Use.TDM}


def decide(statements: Iterable[Statement], use: Use) -> UsageDecision:
    """What the statements say of a use, and the one that decides."""
    wider = _REFUSED_WITH.get(use)
    telling = [
        one
        for one in statements
        if one.use is use or (one.use is wider and one.answer is not Answer.YES)
    ]
    if not telling:
        return UsageDecision(use, None, None)
    by = max(telling, key=lambda one: _STRICTNESS[one.answer])
    return UsageDecision(use, by.answer, by)


def decide_all(statements: Iterable[Statement]) -> list[UsageDecision]:
    """The decision for each use."""
    known = list(statements)
    return [decide(known, use) for use in Use]
