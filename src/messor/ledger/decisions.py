"""Decisions: whether something may be done, by which rule, and why.

An allowed fetch stores its rule on its own row; a refusal is stored when it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

Subject = TypeVar("Subject")


class Verdict(StrEnum):
    ALLOWED = "allowed"
    DENIED = "denied"
    DEFERRED = "deferred"


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with its rule and reason."""

    verdict: Verdict
    rule: str
    reason: str

    @property
    def allowed(self) -> bool:
        return self.verdict is Verdict.ALLOWED


def denied(rule: str, reason: str) -> Decision:
    return Decision(Verdict.DENIED, rule, reason)


def deferred(rule: str, reason: str) -> Decision:
    return Decision(Verdict.DEFERRED, rule, reason)


def decide(
    subject: Subject,
    rules: Iterable[Callable[[Subject], Decision | None]],
    allowed: Decision,
) -> Decision:
    """Return the first rule's objection, or `allowed` if there is none."""
    for rule in rules:
        objection = rule(subject)
        if objection is not None:
            return objection
    return allowed
