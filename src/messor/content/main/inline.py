"""Markdown of one block: links, emphasis and code."""

from __future__ import annotations

import re

from messor.content.main.blocks import BREAK, Mark, Markup, collapsed
from messor.content.main.footnotes import is_way_back, reference
from messor.web.urls import MAX_URL_LENGTH, resolve

_ESCAPED = re.compile(r"[\\`*\[\]]|(?<!\w)_|_(?!\w)|<(?=[a-zA-Z/!?])")
_ESCAPABLE = "\\`*[]_<"
_BACKTICKS = re.compile(r"`+")
_WORD = re.compile(r"\w")
_BLOCK_START = re.compile(r"(?:[#>+-]|\d{1,9}[.)])(?=\s|$)|[-=]{3,}\s*$")
# First characters of text that may need escaping; such text has more than letters and digits.
GUARDED = frozenset("#>+-=0123456789")
_LINKED = ("http://", "https://", "mailto:", "tel:")
_SIGNS = {"strong": "**", "em": "*"}


class Inline:
    """Renders blocks of one page; URLs are made absolute."""

    def __init__(self, url: str, text: str) -> None:
        """`text` is everything that will be rendered from the page at `url`, without marks."""
        self._url = url or None
        self._resolved: dict[str, str] = {}
        self._signs = _signs_in(text)
        self.escapes = bool(self._signs)  # whether anything may need escaping

    def render(self, text: str, markup: Markup | None, *, emphasis: bool = True) -> str:
        """Return the text of a block with its marks; line breaks are kept."""
        if markup is None:
            return _guarded(self._escape(text))
        return _guarded(collapsed(self._marked(markup, emphasis=emphasis)))

    def _escape(self, text: str) -> str:
        for sign in self._signs:
            if sign in text:
                return _ESCAPED.sub(r"\\\g<0>", text)
        return text

    def _marked(self, markup: Markup, *, emphasis: bool) -> str:
        """Return the pieces wrapped in their marks, inner ones first."""
        pieces, marks = markup
        parts = self._escaped(pieces, marks) if self._signs else pieces.copy()
        for start, end, mark, value in marks:
            text = "".join(parts[start:end])
            inner = text.strip().strip(BREAK).strip()
            if inner:
                before, _, after = text.partition(inner)
                wrapped = self._wrap(mark, value, inner, emphasis=emphasis)
                parts[start] = f"{before}{wrapped}{after}"
                parts[start + 1 : end] = [""] * (end - start - 1)
        return "".join(parts)

    def _escaped(self, pieces: list[str], marks: list[Mark]) -> list[str]:
        """Return the pieces escaped, except those whose innermost mark is code."""
        parts = list(map(self._escape, pieces))
        if any(mark == "code" for _, _, mark, _ in marks):
            innermost: dict[int, str] = {}
            for start, end, mark, _ in reversed(marks):
                innermost.update(dict.fromkeys(range(start, end), mark))
            for place, mark in innermost.items():
                if mark == "code":
                    parts[place] = pieces[place]
        return parts

    def _wrap(self, mark: str, value: str, inner: str, *, emphasis: bool) -> str:
        if mark == "a":
            if value.startswith("#"):
                return "" if is_way_back(value, inner) else reference(value, inner) or inner
            target = self._target(value)
            return f"[{' '.join(inner.replace(BREAK, ' ').split())}]({target})" if target else inner
        if mark == "code":
            fence = fence_for(inner, 1)
            return f"{fence}{inner}{fence}".replace(BREAK, " ")
        if not emphasis or BREAK in inner or not _WORD.search(inner):
            return inner
        return f"{_SIGNS[mark]}{inner}{_SIGNS[mark]}"

    def picture(self, text: str, address: str) -> str:
        """Return a picture with its alternative text; empty if it cannot be addressed."""
        target = self._target(address)
        return f"![{escape(text)}]({target})" if target else ""

    def _target(self, href: str) -> str:
        """Return the URL of a link; empty if it leads nowhere else."""
        found = self._resolved.get(href)
        if found is None:
            found = self._resolved[href] = self._resolve(href.strip())
        return found

    def _resolve(self, href: str) -> str:
        if not href or href.startswith("#") or len(href) > MAX_URL_LENGTH:
            return ""
        target = resolve(href, self._url) or ""
        if not target.startswith(_LINKED):
            return ""
        return target.replace("(", "%28").replace(")", "%29").replace(" ", "%20")


def fence_for(code: str, minimum: int) -> str:
    """Return a run of backticks longer than any in the code."""
    longest = max(map(len, _BACKTICKS.findall(code)), default=0)
    return "`" * max(minimum, longest + 1)


def escape(text: str) -> str:
    """Return plain text with markdown syntax escaped."""
    return _ESCAPED.sub(r"\\\g<0>", text) if _signs_in(text) else text


def _signs_in(text: str) -> list[str]:
    """Return the characters of a text that may need escaping: seldom any, found in one pass."""
    return [sign for sign in _ESCAPABLE if sign in text]


def _guarded(text: str) -> str:
    """Escape the first character of lines that look like headings, lists or rules."""
    if "\n" in text:
        return "\n".join(map(_guard, text.split("\n")))
    return _guard(text) if text[:1] in GUARDED and not text.isalnum() else text


def _guard(line: str) -> str:
    found = _BLOCK_START.match(line) if line[:1] in GUARDED else None
    if found is None:
        return line
    if line[0].isdigit():
        at = found.end() - 1
        return f"{line[:at]}\\{line[at:]}"
    return f"\\{line}"
