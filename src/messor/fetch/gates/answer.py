"""A response as the detectors see it: lower-case text, title, bounded markup.

Built only for responses that need a closer look; everything here is linear and bounded, since
hostile markup is the normal case.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from messor.web.html import PageReading

# Challenge pages are small; longer ones are recognisable by their beginning or end.
HEAD_CHARS = 65_536
TAIL_CHARS = 16_384
TEXT_CHARS = 4_000

# Below this much visible text a page may be a shell or a block; real pages have more. About two
# hundred words: pages with fewer words are examined.
THIN_CHARS = 2_000
_LETTERS_PER_WORD = 10

_TITLE = re.compile(r"<title[^<>]{0,200}>([^<]{0,1000})", re.IGNORECASE)
_UNSEEN = re.compile(r"<(script|style|template|svg|title)\b", re.IGNORECASE)
_UNSEEN_END = {
    name: re.compile(f"</{name}[^<>]{{0,100}}>", re.IGNORECASE)
    for name in ("script", "style", "template", "svg", "title")
}
_TAG = re.compile(r"<[^<>]*>")
_PLAIN = str.maketrans({"\u2019": "'", "\u2018": "'", "\u2026": "...", "*": None, "\\": None})


@dataclass(frozen=True, slots=True)
class GateInput:
    """One response, as far as the detectors need it."""

    status: int
    url: str
    title: str  # normalised by `plain`
    lines: tuple[str, ...]  # of visible text, normalised by `plain`
    text: str  # the same on one line
    length: int  # of the visible text, in characters
    words: int
    html: str  # beginning and end of the markup
    links: int

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


def look_at(status: int, html: str, reading: PageReading | None, url: str = "") -> GateInput:
    """Build the input from a page's reading, or from its markup alone where it was not read."""
    is_whole = len(html) <= HEAD_CHARS + TAIL_CHARS
    markup = html if is_whole else html[:HEAD_CHARS] + html[-TAIL_CHARS:]
    if reading is None:
        title, text = _title(markup), _visible_text(markup)
        # The part that was not examined may be all text.
        length, links = len(text) if is_whole else THIN_CHARS, markup.count("<a ")
    else:
        title, text = reading.title, reading.markdown
        length, url, links = reading.text_length, reading.url, len(reading.links)
    lines = tuple(line for raw in text[:TEXT_CHARS].splitlines() if (line := plain(raw)))
    words = max(len(text[: 4 * TEXT_CHARS].split()), length // _LETTERS_PER_WORD)
    return GateInput(
        status, url, plain(title), lines, " ".join(lines), length, words, markup, links
    )


def plain(text: str) -> str:
    """Normalise text to the form of the phrase lists: lower case, single spaces, plain quotes."""
    return " ".join(text.translate(_PLAIN).lower().split()).strip("#>-| ")


def _title(html: str) -> str:
    found = _TITLE.search(html)
    return found[1] if found else ""


def _visible_text(html: str) -> str:
    """The text between tags, without a parser: good enough to search for phrases."""
    parts = []
    at = 0
    while (unseen := _UNSEEN.search(html, at)) is not None:
        parts.append(html[at : unseen.start()])
        end = _UNSEEN_END[unseen[1].lower()].search(html, unseen.end())
        if end is None:
            at = len(html)
            break
        at = end.end()
    parts.append(html[at:])
    lines = _TAG.sub("\n", "\n".join(parts)).splitlines()
    return "\n".join(line for raw in lines if (line := raw.strip()))
