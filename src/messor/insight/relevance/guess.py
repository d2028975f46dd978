"""A guess at the vertical of a domain, from what little is known before its first crawl.

The submitter's words and the homepage's title are weighed as a page's title is. A guess is only
offered: a person decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from messor.insight.relevance.lexical import lexical_score
from messor.insight.relevance.topics import topic_of
from messor.verticals.model import Vertical

LEAST = 0.5  # score of a guess
LEAD = 0.1  # over the next best vertical


@dataclass(frozen=True, slots=True)
class VerticalGuess:
    """The vertical that the words suggest, and which words."""

    vertical: str
    title: str
    score: float
    reasons: tuple[str, ...]


def guess(verticals: Sequence[Vertical], said: str, seen: str = "") -> VerticalGuess | None:
    """Guess from what was said about a site and what was seen of it; None if nothing stands out."""
    guesses = sorted((_weigh(one, said, seen) for one in verticals), key=lambda one: -one.score)
    if not guesses or guesses[0].score < LEAST:
        return None
    rival = guesses[1].score if len(guesses) > 1 else 0.0
    return guesses[0] if guesses[0].score - rival >= LEAD else None


def _weigh(vertical: Vertical, said: str, seen: str) -> VerticalGuess:
    found = lexical_score(topic_of(vertical), said, seen)
    return VerticalGuess(vertical.name, vertical.title, round(found.value, 4), found.reasons)
