"""The markdown of one block: its links, emphasis and code."""

from __future__ import annotations

import re

from messor.extract.main.blocks import BREAK, Block
from messor.web.urls import MAX_URL_LENGTH, resolve

_ESCAPED = re.compile(r"[\\`*\[\]]|(?<!\w)_|_(?!\w)|<(?=[a-zA-Z/!?])")
_may_need_escape = re.compile(r"[\\`*\[\]_<]").search  # many times faster, and seldom true
_BACKTICKS = re.compile(r"`+")
_WORD = re.compile(r"\w")
_BLOCK_START = re.compile(r"(?:[#>+-]|\d{1,9}[.)])(?=\s|$)|[-=]{3,}\s*$")
_STARTS = frozenset("#>+-=0123456789")
_LINKED = ("http://", "https://", "mailto:", "tel:")
_SIGNS = {"strong": "**", "em": "*"}


class Inline:
    """Renders blocks found on one page; addresses are made absolute against its own."""

    def __init__(self, url: str) -> None:
        self._url = url or None
        self._resolved: dict[str, str] = {}

    def render(self, block: Block, *, emphasis: bool = True) -> str:
        """The text of a block with its marks; lines of it stay lines."""
        if not block.marks:
            return _guarded("\n".join(escape(line) for line in block.text.split("\n")))
        stack: list[tuple[str, str, list[str]]] = [("", "", [])]
        marks = iter((*block.marks, (len(block.pieces), "", "")))
        position, mark, value = next(marks)
        for place, piece in enumerate((*block.pieces, "")):
            while position == place and mark:
                self._apply(stack, mark, value, emphasis=emphasis)
                position, mark, value = next(marks)
            stack[-1][2].append(piece if stack[-1][0] == "code" else escape(piece))
        while len(stack) > 1:
            self._close(stack, emphasis=emphasis)
        lines = (" ".join(line.split()) for line in "".join(stack[0][2]).split(BREAK))
        return _guarded("\n".join(line for line in lines if line))

    def _apply(
        self, stack: list[tuple[str, str, list[str]]], mark: str, value: str, *, emphasis: bool
    ) -> None:
        if not mark.startswith("/"):
            stack.append((mark, value, []))
        elif any(opened == mark[1:] for opened, _, _ in stack):
            while stack[-1][0] != mark[1:]:
                self._close(stack, emphasis=emphasis)
            self._close(stack, emphasis=emphasis)

    def _close(self, stack: list[tuple[str, str, list[str]]], *, emphasis: bool) -> None:
        mark, value, parts = stack.pop()
        text = "".join(parts)
        inner = text.strip().strip(BREAK).strip()
        if not inner:
            stack[-1][2].append(text)
            return
        before, _, after = text.partition(inner)
        stack[-1][2].append(f"{before}{self._wrap(mark, value, inner, emphasis=emphasis)}{after}")

    def _wrap(self, mark: str, value: str, inner: str, *, emphasis: bool) -> str:
        if mark == "a":
            target = self._target(value)
            return f"[{' '.join(inner.replace(BREAK, ' ').split())}]({target})" if target else inner
        if mark == "code":
            fence = fence_for(inner, 1)
            return f"{fence}{inner}{fence}".replace(BREAK, " ")
        if not emphasis or BREAK in inner or not _WORD.search(inner):
            return inner
        return f"{_SIGNS[mark]}{inner}{_SIGNS[mark]}"

    def _target(self, href: str) -> str:
        """The address of a link, empty where it leads nowhere else."""
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


def fence_for(code: str, least: int) -> str:
    """Backticks enough that none within the code end it."""
    longest = max(map(len, _BACKTICKS.findall(code)), default=0)
    return "`" * max(least, longest + 1)


def escape(text: str) -> str:
    """Plain text with the signs escaped that markdown would read."""
    return _ESCAPED.sub(r"\\\g<0>", text) if _may_need_escape(text) else text


def _guarded(text: str) -> str:
    """Lines that would be taken for headings, lists or rules get their first sign escaped."""
    if "\n" in text:
        return "\n".join(_guard(line) for line in text.split("\n"))
    return _guard(text)


def _guard(line: str) -> str:
    found = _BLOCK_START.match(line) if line[:1] in _STARTS else None
    if found is None:
        return line
    if line[0].isdigit():
        at = found.end() - 1
        return f"{line[:at]}\\{line[at:]}"
    return f"\\{line}"
