"""Labelled statements of a page: "Deadline: 1 May 2026", table rows, terms and headings.

Labels are only found and folded here, with the line or lines they refer to; record readers
interpret them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from turbohtml import Element

from messor.content.dates import fold
from messor.content.evidence import Passage
from messor.content.lines import Line
from messor.content.view import PageView

MAX_LABEL = 60
_MAX_LABELS = 2_000
_COLON = re.compile(r"\s*[:\uff1a]\s+|\s*[:\uff1a]$|\s+[\u2013\u2014]\s+")
_TRIM = re.compile(r"[^\w)]+$|^[^\w(]+")
_BOLD = frozenset(("strong", "b", "em", "span", "label"))
_TERMS = frozenset(("dt", "th"))


@dataclass(frozen=True, slots=True)
class Label:
    """A folded label and the text it refers to."""

    name: str
    line: Line
    text: str  # part of the line, or all of it

    def passage(self, page: PageView) -> Passage:
        return page.passage(self.line, self.text)


def labels(page: PageView) -> list[Label]:
    """Return the labelled statements of a page, in page order."""
    return page.once(_read)


def _read(page: PageView) -> list[Label]:
    lines = page.lines
    found: list[Label] = []
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        if line.region == "nav" or len(found) >= _MAX_LABELS:
            continue
        parted = _COLON.search(line.text, 0, MAX_LABEL + 3)
        if parted is not None and parted.end() < len(line.text):
            found.append(Label(_name(line.text[: parted.start()]), line, line.text[parted.end() :]))
        elif (bold := _bold_beginning(line)) is not None:
            found.append(Label(_name(bold), line, line.text[len(bold) :].strip()))
        elif following is not None and _announces(line, following):
            found.append(Label(_name(line.text), following, following.text))
    return [label for label in found if label.name]


def _bold_beginning(line: Line) -> str | None:
    """Return the bold words at the start of a line, if more text follows."""
    first = next((node for node in line.element.children if isinstance(node, Element)), None)
    if first is None or first.tag not in _BOLD:
        return None
    text = " ".join(first.text.split())
    is_label = 0 < len(text) <= MAX_LABEL and len(text) < len(line.text)
    return text if is_label and line.text.startswith(text) else None


def _name(text: str) -> str:
    return fold(_TRIM.sub("", text))


def _announces(line: Line, following: Line) -> bool:
    """Whether a line labels the next one: a heading, a term, a bold word with a colon."""
    if len(line.text) > MAX_LABEL or following.level:
        return False
    if line.level or line.element.tag in _TERMS or line.text.endswith((":", "\uff1a")):
        return True
    cell = line.element.tag == "td" and following.element.tag == "td"
    if cell and line.element.parent == following.element.parent:
        return line.element.previous_sibling is None or not _has_cell_before(line)
    # Two adjacent short blocks in one parent: label and value of a card.
    return line.element.parent == following.element.parent and _is_short(line)


def _has_cell_before(line: Line) -> bool:
    return any(getattr(node, "tag", "") in ("td", "th") for node in line.element.previous_siblings)


def _is_short(line: Line) -> bool:
    return len(line.text) <= 30 and line.text.count(" ") <= 3
