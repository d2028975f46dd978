"""The reply to a question: an answer, or one of the ways to fail."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class ReplyStatus(StrEnum):
    """How a question ended."""

    ANSWERED = "answered"
    REFUSED = "refused"  # refused by the model or its content filter
    BAD_ANSWER = "bad_answer"  # not JSON, or schema violated
    TRUNCATED = "truncated"  # token limit reached
    TIMED_OUT = "timed_out"
    OVERLOADED = "overloaded"  # 429, or 5xx
    UNREACHABLE = "unreachable"
    REJECTED = "rejected"  # wrong key, model name or request
    OVER_CAP = "over_cap"  # not asked: it might exceed a cap
    IN_FLIGHT = "in_flight"  # not asked: another worker is asking the same
    # Not asked: the endpoint failed recently, the ledger is unavailable, or the rest of a cap is
    # reserved for questions in flight.
    LEFT_ALONE = "left_alone"


# Asking again soon would give, and cost, the same.
ABOUT_THE_TEXT = frozenset((ReplyStatus.REFUSED, ReplyStatus.BAD_ANSWER, ReplyStatus.TRUNCATED))
NOT_ASKED = frozenset((ReplyStatus.OVER_CAP, ReplyStatus.IN_FLIGHT, ReplyStatus.LEFT_ALONE))
# The same question may be answered later without intervention.
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
    """Tokens as counted by the endpoint."""

    prompt: int
    completion: int


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to one question; `value` is the answer's JSON, validated against its schema."""

    ending: ReplyStatus
    value: Any = None
    sentence: str = ""
    wait: float = 0.0  # seconds after which a retry makes sense
    usage: Usage | None = None
    is_charged: bool = False  # it was, or may have been, paid for
    call_id: int | None = None
    is_cached: bool = False
    slow_down: bool = False  # the endpoint asks all workers to wait
    is_doubtful: bool = False  # caused by this text, unless texts of many domains end alike

    @property
    def is_answer(self) -> bool:
        return self.ending is ReplyStatus.ANSWERED

    @property
    def is_retryable(self) -> bool:
        return self.ending in RETRYABLE
