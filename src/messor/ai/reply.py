"""What came of a question: an answer, or one of the ways in which there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class ReplyStatus(StrEnum):
    """How a question ended."""

    ANSWERED = "answered"
    REFUSED = "refused"  # the model would not, or its filter would not let it
    BAD_ANSWER = "bad_answer"  # no JSON, or not of the schema
    TRUNCATED = "truncated"  # it ran into its limit of tokens
    TIMED_OUT = "timed_out"
    OVERLOADED = "overloaded"  # 429, or 5xx
    UNREACHABLE = "unreachable"
    REJECTED = "rejected"  # our key, our model's name, our request
    OVER_CAP = "over_cap"  # not asked: it might have cost more than is left
    IN_FLIGHT = "in_flight"  # not asked: somebody else is asking just that
    # Not asked: the endpoint failed lately, the ledger cannot be read, or what is left of a cap is
    # set aside for questions under way.
    LEFT_ALONE = "left_alone"


# Asking the same again soon would bring, and cost, the same.
ABOUT_THE_TEXT = frozenset((ReplyStatus.REFUSED, ReplyStatus.BAD_ANSWER, ReplyStatus.TRUNCATED))
NOT_ASKED = frozenset((ReplyStatus.OVER_CAP, ReplyStatus.IN_FLIGHT, ReplyStatus.LEFT_ALONE))
# The same question may be answered later without anybody's doing.
RETRYABLE = frozenset(
    (
        ReplyStatus.TIMED_OUT,
        ReplyStatus.OVERLOADED,
        ReplyStatus.UNREACHABLE,
        ReplyStatus.IN_FLIGHT,
        ReplyStatus.LEFT_ALONE,
    )
)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the endpoint counted them."""

    prompt: int
    completion: int


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one question; `value` is the JSON of an answer, checked against its schema."""

    ending: ReplyStatus
    value: Any = None
    sentence: str = ""
    wait: float = 0.0  # seconds after which asking again makes sense
    usage: Usage | None = None
    is_charged: bool = False  # it was paid for, or may have been
    call_id: int | None = None
    is_cached: bool = False
    slow_down: bool = False  # the endpoint asks every worker to wait
    is_doubtful: bool = False  # of this text, unless texts of many domains end the same way

    @property
    def is_answer(self) -> bool:
        return self.ending is ReplyStatus.ANSWERED

    @property
    def is_retryable(self) -> bool:
        return self.ending in RETRYABLE
