"""Phrases of block pages, from `data/sentences.toml`.

Page texts are normalised as by `answer.plain`, and so are the phrases. A sentence counts only where
the page has little other text; how little is part of its entry.
"""

from __future__ import annotations

from messor.core.words import load
from messor.fetch.gates.answer import GateInput
from messor.fetch.gates.verdict import CHALLENGE, Block

_LISTS = load("messor.fetch.gates", "sentences")
# Sentence → vendor or kind of block, and the maximum length of the page's text.
_SENTENCES = tuple(
    (sentence, row["by"], row["below"])
    for row in _LISTS["sentences"]
    for sentence in row["phrases"].strip().split("\n")
)
# Beginnings of a line on a page without other text.
_OPENINGS = tuple(
    (opening, row["by"])
    for row in _LISTS["openings"]
    for opening in row["phrases"].strip().split("\n")
)
_OPENING_CHARS = 400
_FIELDS = ('type="email"', 'type="file"', "<select")


def _is_form(html: str) -> bool:
    """Whether a page asks for more than a check can: an e-mail address, a file, a choice."""
    return any(field in html for field in _FIELDS)


def sentence_in(answer: GateInput) -> Block | None:
    """The sentence that identifies a page as a block, if any."""
    for sentence, by, limit in _SENTENCES:
        if answer.length < limit and sentence in answer.text:
            return None if by == CHALLENGE and _is_form(answer.html) else Block(by, sentence)
    if answer.length < _OPENING_CHARS:
        for line in answer.lines:
            for opening, by in _OPENINGS:
                if line.startswith(opening):
                    return Block(by, line[:200])
    return None
