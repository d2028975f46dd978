"""Relevance by rules: weighted phrases of a topic, counted where they matter most.

A phrase in the title counts three times, repetition counts little, and a long page needs more of
them than a short one. Every point has a reason that names its phrase.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from messor.content.dates import fold
from messor.insight.relevance.topic import Topic
from messor.insight.relevance.words import MAX_TEXT

TITLE_TIMES = 3.0
ENOUGH = 4.5  # points at which a short page has even odds
_SHORT = 150  # words; each doubling allows one more phrase by chance
_BY_CHANCE = 1.0
_STEEP = 0.35
_REASONS = 6


@dataclass(frozen=True, slots=True)
class LexicalScore:
    """0 to 1, and the phrases behind it, strongest first."""

    value: float
    reasons: tuple[str, ...]


def lexical_score(topic: Topic, title: str, text: str) -> LexicalScore:
    """How much a page's words indicate a topic."""
    head, body = _plain(title[:1_000]), _plain(text[:MAX_TEXT])
    wanted, unwanted = topic.folded
    points = {phrase: _points(phrase, weight, head, body) for phrase, weight in wanted.items()}
    against = {phrase: _points(phrase, weight, head, body) for phrase, weight in unwanted.items()}
    total = sum(points.values()) - sum(against.values())
    value = 1 / (1 + math.exp(-_STEEP * (total - _enough(body))))
    signed = [(each, phrase, "for") for phrase, each in points.items() if each]
    signed += [(each, phrase, "against") for phrase, each in against.items() if each]
    signed.sort(reverse=True)
    reasons = tuple(_reason(*each) for each in signed[:_REASONS])
    return LexicalScore(value, reasons or ("no phrase of the topic was found",))


def _enough(body: str) -> float:
    return ENOUGH + _BY_CHANCE * math.log2(max(body.count(" ") / _SHORT, 1.0))


def _reason(points: float, phrase: str, side: str) -> str:
    return f"{side}: {phrase} ({'+' if side == 'for' else '-'}{points:.1f})"


def _plain(text: str) -> str:
    return " ".join(fold(text).split())


def _points(phrase: str, weight: float, head: str, body: str) -> float:
    pattern = _pattern(phrase)
    times = sum(1 for _ in pattern.finditer(body)) if phrase in body else 0
    titled = TITLE_TIMES if phrase in head and pattern.search(head) else 0.0
    return weight * (titled + math.log2(1 + min(times, 15)))


@lru_cache(maxsize=10_000)
def _pattern(phrase: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)")
