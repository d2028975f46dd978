"""A summary made of a page's own sentences: those whose words the page repeats most.

No model writes it, so that nothing is said that the page does not say.
"""

from __future__ import annotations

import re
from collections import Counter

EXTRACTIVE = "The summary consists of sentences of the page; no model wrote it."
MOST_SENTENCES = 5
MOST_CHARS = 1_000
_READ = 100_000  # characters; the rest hardly changes what a page is about
_MARKS = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)|[*_`>|]+|^\s*(?:[-+]|\d+\.)\s+", re.MULTILINE)
_END = re.compile(r"(?<=[.!?…\u3002\uff01\uff1f])\s+(?=[^\sa-z])")
_WORD = re.compile(r"\w{4,}")
_SHORTEST, _LONGEST = 40, 400  # of a sentence that can stand by itself


def extractive(markdown: str) -> str:
    """The sentences that tell most, in page order; the beginning if there are none."""
    paragraphs = [
        line for line in markdown[:_READ].splitlines() if line.strip() and line[0] not in "#|"
    ]
    text = [_MARKS.sub(r"\1", line).strip() for line in paragraphs]
    sentences = list(
        dict.fromkeys(
            one.strip()
            for line in text
            for one in _END.split(line)
            if _SHORTEST <= len(one.strip()) <= _LONGEST
        )
    )
    if not sentences:
        return " ".join(text)[:_LONGEST].strip()
    counts = Counter(word.lower() for one in sentences for word in _WORD.findall(one))
    weights = {one: _weight(one, counts, at) for at, one in enumerate(sentences)}
    chosen: set[str] = set()
    size = 0
    for one in sorted(sentences, key=lambda each: -weights[each])[:MOST_SENTENCES]:
        if chosen and size + len(one) > MOST_CHARS:
            continue
        chosen.add(one)
        size += len(one)
    return " ".join(one for one in sentences if one in chosen)


def _weight(sentence: str, counts: Counter[str], place: int) -> float:
    """How much of what the page is about a sentence says; earlier ones say it better."""
    words = {word.lower() for word in _WORD.findall(sentence)}
    if not words:
        return 0.0
    told = sum(counts[word] for word in words)
    return float(told / len(words) ** 0.5 / (1 + place) ** 0.2)
