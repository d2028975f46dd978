"""The elements that a page's tags leave open: at least those that the parser has open.

An element is closed here only where the parser certainly closes it. That is the case where only
formatting is above it, whatever came before. Otherwise it holds for elements that are certainly
open, those since the last tag whose effect was not tracked exactly (`_floor`). An element left open
here but not there only makes a page seem deeper. Formatting is counted until its own end tag: the
parser reopens it in what follows.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator

from turbohtml import Token, TokenType, tokenize

from messor.web.elements import (
    BLOCKS,
    BREAKOUTS,
    CELLS,
    FOREIGN,
    FORMATTING,
    HEADINGS,
    INTEGRATION,
    MARKERS,
    OBSOLETE,
    RAW,
    RUBY,
    SCOPES,
    SECTIONS,
    SPECIAL,
    VOID,
)

_STEPS = 3_000_000  # elements examined, then the page counts as too deep: some 30 ms
_SECONDS = 0.25  # of CPU time, then it counts as too deep as well: the crawl path waits for it
_CLOCK_MASK = 0xFFF  # every 4,096 tokens
_MAX_NESTED = 4
_SHORTEST_CDATA = len("[CDATA[]]") - 1
_VOID = VOID | {"image"}  # which the parser treats as <img>
_UNCLOSED = ""  # an element that no end tag certainly closes
_OUTERMOST = frozenset(("html", "head", "body"))  # always present, opened or not
_TABLE_PARTS = frozenset((*CELLS, *SECTIONS, "tr"))
_CLEARED = frozenset((*CELLS, "caption"))  # a following part closes them as their end tag does
_ROWS = frozenset(("table", "tbody", "thead", "tfoot", "tr"))
_TABLE_SCOPE = frozenset(("table", "template"))
_MURKY = ("select", "frameset")  # within them the parser ignores start tags
_OPTIONS = ("option", "optgroup")
_LOOSE = frozenset(name.upper() for name in FORMATTING)  # closed, to be reopened in what follows
_LIGHT = FORMATTING | _LOOSE  # they shield nothing below them from end tags
# The tokenizer treats the content of <noscript> as text, the parser, which runs no scripts, as
# tags.
_NOSCRIPT = re.compile(r"<(/?)noscript(?=[\t\n\f\r />])", re.IGNORECASE)
_AS_PLAIN = "x-noscript"
_BARRIERS = SPECIAL | INTEGRATION | OBSOLETE | {_AS_PLAIN}
_SCOPE = SCOPES | INTEGRATION
_ITEM_BARRIERS = _BARRIERS - {"address", "div", "p"}
_MAX_BLOCKS = 7  # the parser moves formatting out of at most eight blocks at once

# What a start tag closes first, and what shields that from it.
_CLOSED_BY: dict[str, tuple[tuple[str, Collection[str]], ...]] = {
    **dict.fromkeys((*BLOCKS, "hr"), (("p", _SCOPE | {"button"}),)),
    "li": (("li", _ITEM_BARRIERS), ("p", _SCOPE | {"button"})),
    **dict.fromkeys(
        ("dd", "dt"),
        (("dd", _ITEM_BARRIERS), ("dt", _ITEM_BARRIERS), ("p", _SCOPE | {"button"})),
    ),
    "button": (("button", _SCOPE),),
}
# Their start tags are just pushed, unless one of these is open.
_RIVALS = {
    **{tag: frozenset(name for name, _ in closed) for tag, closed in _CLOSED_BY.items()},
    **dict.fromkeys(HEADINGS, frozenset(("p", *HEADINGS))),
    "a": frozenset(("a", "A")),
    **dict.fromkeys(_OPTIONS, frozenset(("option",))),
}
_EMPTY = _VOID - {"col", "hr"}  # these have no effect either
_WATCHED = frozenset(
    (
        *FOREIGN, *_TABLE_PARTS, *RUBY, *_OUTERMOST, _AS_PLAIN, "col", "form", "frameset", "hr",
        "select", "table", "template",
    )
)  # fmt: skip
_WATCHED_ENDS = _WATCHED | INTEGRATION
_UNUSUAL = _WATCHED | RAW
_END_TAG = TokenType.END_TAG


class OpenElements:
    """Elements that a page's tags leave open, up to a limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: list[str] = []
        self._floor = 0  # from here on all are certainly open in the parser
        self._implied = 0  # rows and bodies of tables are implied
        self._steps = _STEPS
        self._ends_at = time.thread_time() + _SECONDS
        self._base = -1  # the foreign element that the parser is certainly within, if any
        self._has_foreign = False
        self._has_form = False  # whether the parser may have a form pointer, open or not
        self._stray = 0  # formatting below here is not reached by its end tags
        self._is_murky = False  # within an element that ignores start tags

    @property
    def depth(self) -> int:
        """How many elements are open at most, with those that a table or a template implies."""
        return len(self._open) + self._implied + 2 * self._open.count("template")

    def is_exceeded_by(self, html: str) -> bool:
        """Whether more elements than the limit may be open at once, or it cannot be determined."""
        return self._is_exceeded(_NOSCRIPT.sub(rf"<\1{_AS_PLAIN}", html), nested=0)

    # One loop over all tags: a call for each of them would take more time than the rest.
    def _is_exceeded(self, html: str, nested: int) -> bool:  # noqa: C901, PLR0912
        open_, limit, end, start = self._open, self._limit, self._end, self._start
        tokens = _tokens(html)
        for number, token in enumerate(tokens):
            if not number & _CLOCK_MASK and time.thread_time() > self._ends_at:
                return True
            tag = token.tag
            if not tag:
                if self._has_foreign and _is_cut_short(token):
                    return True
                continue
            if token.type is _END_TAG:
                depth = len(open_) - 1
                if depth >= self._stray and open_[-1] == tag and tag not in _WATCHED_ENDS:
                    open_.pop()
                    if depth < self._floor:  # noqa: PLR1730 - a call takes several times as long
                        self._floor = depth
                    continue
                end(tag)
            elif tag in _UNUSUAL or self._has_foreign or self._is_murky:
                if tag not in RAW:
                    start(tag, is_closed=token.self_closing)
                elif not self._pass_over(token, tokens, nested):
                    return True
            elif tag not in _EMPTY:
                rivals = _RIVALS.get(tag)
                if rivals is None or rivals.isdisjoint(open_):
                    open_.append(tag)
                else:
                    start(tag, is_closed=False)
            if len(open_) + self._implied > limit or self._steps < 0:
                return True
        return False

    def _pass_over(self, start: Token, tokens: Iterator[Token], nested: int) -> bool:
        """Skip an element whose content is text; False where it cannot be determined whether it is."""
        tag = start.tag or ""
        is_murky = self._has_foreign or self._is_murky
        if tag == "xmp" and not is_murky:
            self._close_before(tag)
        if is_murky and (tag == "plaintext" or (tag == "title" and self._is_loose())):
            return False
        text, is_closed = _raw_text(tokens)
        if not is_murky or "<" not in text:
            return True
        # Within SVG and MathML these are ordinary elements, if it certainly is within them.
        if self._base < 0 or nested >= _MAX_NESTED:
            return False
        if tag == "title" and not (is_closed or start.self_closing) and self._is_within_svg_alone():
            self._stay_in_html()
            return not self._is_exceeded(text, nested + 1)
        if is_closed:
            text += f"</{tag}>"
            if _last_tag(text) != tag:  # its end tag may be part of an attribute or a comment
                return False
        self._start(tag, is_closed=start.self_closing)
        return not self._is_exceeded(text, nested + 1)

    def _is_within_svg_alone(self) -> bool:
        """Whether a title here holds HTML, and nothing around it can end it."""
        foreign = [name for name in self._open if name in FOREIGN]
        return foreign == ["svg"] and not self._is_within(_TABLE_SCOPE)

    def _stay_in_html(self) -> None:
        """Continue as HTML, within an SVG title that nothing closes any more."""
        self._open[:] = [_UNCLOSED if name in FOREIGN else name for name in self._open]
        self._open.append(_UNCLOSED)
        self._base, self._has_foreign = -1, False
        self._lose_track()

    def _is_within(self, names: Collection[str]) -> bool:
        self._steps -= len(self._open)
        return any(name in self._open for name in names)

    def _lose_track(self) -> None:
        """The parser may have closed any of them."""
        self._floor = len(self._open)

    def _is_loose(self) -> bool:
        """Whether there may be formatting that the parser reopens with the next text."""
        self._steps -= len(self._open)
        return not (
            _LOOSE.isdisjoint(self._open) and FORMATTING.isdisjoint(self._open[: self._floor])
        )

    def _start(self, tag: str, *, is_closed: bool) -> None:
        if self._base >= 0 and not self._leave_foreign(tag):
            if not is_closed:
                self._open_foreign(tag)
        elif tag in _VOID:
            self._pass_void(tag)
        elif tag in _OUTERMOST and not self._has_foreign:
            return
        elif tag in _TABLE_PARTS:
            self._open_part(tag)
        elif tag in FOREIGN:
            self._enter_foreign(tag, is_closed=is_closed)
        else:
            self._close_before(tag)
            self._push(tag)

    def _open_foreign(self, tag: str) -> None:
        """Open an element of SVG or MathML."""
        if tag in INTEGRATION or tag == "font":  # its content may be HTML
            self._base = -1
            if tag in INTEGRATION and self._is_loose():
                tag = _UNCLOSED
        self._open.append(tag)

    def _pass_void(self, tag: str) -> None:
        """Within SVG and MathML these are ordinary elements."""
        if self._has_foreign and tag not in BREAKOUTS:
            self._open.append(tag)
        elif tag == "hr":
            self._close_before(tag)
        elif tag == "col" and "template" in self._open:
            self._is_murky = True

    def _leave_foreign(self, tag: str) -> bool:
        """Whether a start tag ends all foreign elements."""
        if tag not in BREAKOUTS:
            return False
        self._cut(self._base)
        return True

    def _enter_foreign(self, tag: str, *, is_closed: bool) -> None:
        if is_closed and not self._is_murky:
            return
        if not self._is_murky:
            self._base = len(self._open)
        self._has_foreign = True
        self._open.append(tag)

    def _push(self, tag: str) -> None:
        is_sure = not self._has_foreign
        if tag == "table":
            self._implied += 2
            self._end_paragraph_and_table()
        elif tag == "form":
            is_sure &= not self._has_form and self._holder() not in _ROWS
            self._has_form = True
        elif (tag in RUBY and "ruby" in self._open) or (
            tag in HEADINGS and self._holder() in HEADINGS
        ):
            self._lose_track()
        elif tag == "a" and not self._has_foreign:
            self._end_anchor()
        elif tag in _OPTIONS:
            self._end_option()
        elif tag == _AS_PLAIN:
            is_sure = False
        elif tag in _MURKY:
            self._is_murky = True
        self._open.append(tag)
        if not is_sure or self._is_murky:
            self._lose_track()

    def _close_before(self, tag: str) -> None:
        for name, barriers in _CLOSED_BY.get(tag, ()):
            if name in self._open:
                if self._has_foreign or (tag == "form" and self._has_form):
                    self._lose_track()
                else:
                    self._close_nearest(name, barriers)

    def _end_option(self) -> None:
        """An option or a group ends the option directly before it."""
        if "option" in self._open and not self._has_foreign:
            if self._open[-1] == "option" and not self._is_loose():
                self._cut(len(self._open) - 1)
            else:
                self._lose_track()

    def _end_paragraph_and_table(self) -> None:
        """A table ends a paragraph except in quirks mode, and a table directly around it."""
        for name in reversed(self._open):
            if name in ("p", "table"):
                self._lose_track()
            if name in _SCOPE:
                return

    def _end_anchor(self) -> None:
        """A link ends the previous one, but not one outside of a <select>."""
        if self._is_murky:
            self._lose_track()
            return
        for at in range(len(self._open) - 1, -1, -1):
            if self._open[at] in MARKERS or at < self._stray:
                return
            if self._open[at] in ("a", "A"):
                self._drop(at)
                return

    def _open_part(self, tag: str) -> None:
        """Open a part of a table, and close what it closes."""
        table = self._nearest(_TABLE_SCOPE)
        if table < 0 and not self._has_foreign:
            return  # ignored outside of a table
        is_table = self._open[table] == "table"
        if not is_table:
            self._is_murky = True
            self._implied += 2  # permanently: a cell may come without its row and body
        is_sure = table >= self._floor and is_table and not self._has_foreign
        if is_sure:
            self._cut_above(table, tag)
        elif self._holder() in CELLS and tag in CELLS and not self._has_foreign:
            self._cut(self._holder_at())
        self._open.append(tag)
        if not is_sure or self._is_murky:
            self._lose_track()

    def _cut_above(self, table: int, tag: str) -> None:
        """Close everything within the table, except the parts that hold the new one."""
        holders = ("tr", "tbody", "thead", "tfoot") if tag in CELLS else ("tbody", "thead", "tfoot")
        at = table + 1
        if tag in CELLS or tag == "tr":
            while at < len(self._open) and self._open[at] in holders:
                at += 1
        if at < len(self._open):
            self._cut(at, is_closed=self._open[at] in _CLEARED)

    def _end(self, tag: str) -> None:
        if self._base >= 0:
            self._close_foreign(tag)
        elif tag in _OUTERMOST and not self._has_foreign:
            return
        elif tag == "form":
            self._close_form()
        elif tag in FORMATTING:
            self._close_formatting(tag)
        elif tag in _TABLE_PARTS or tag == "table":
            self._close_part(tag)
        elif tag in HEADINGS:
            self._close_heading()
        elif tag in self._open:
            self._close_nearest(tag, _barriers_of(tag))

    def _close_foreign(self, tag: str) -> None:
        if tag in self._open[self._base :]:
            self._cut(len(self._open) - 1 - self._open[::-1].index(tag))
        else:
            self._base = -1
            self._lose_track()

    def _close_heading(self) -> None:
        """The end tag of a heading closes the nearest one, of any rank."""
        at = self._nearest(HEADINGS)
        if at >= 0:
            self._close_nearest(self._open[at], _SCOPE)

    def _close_form(self) -> None:
        """The parser closes the form of its form pointer, which may not be the nearest."""
        at = self._holder_at()
        self._has_form = "template" in self._open
        if at >= 0 and self._open[at] == "form" and not self._has_foreign:
            self._cut(at)
        else:
            self._lose_track()
        self._open[:] = [_UNCLOSED if name == "form" else name for name in self._open]

    def _close_formatting(self, tag: str) -> None:
        if (self._has_foreign or self._is_murky) and self._open[-1:] != [tag]:
            self._lose_track()
            return
        blocks = 0
        for at in range(len(self._open) - 1, -1, -1):
            name = self._open[at]
            self._steps -= 1
            if not name or name in MARKERS or name in _SCOPE or at < self._stray:
                break
            if name.lower() == tag and blocks <= _MAX_BLOCKS:
                self._drop(at)
                return
            blocks += name in _BARRIERS
        self._lose_track()

    def _drop(self, at: int) -> None:
        """End formatting; elements above it may be closed along with it, or moved."""
        if at < len(self._open) - 1:
            self._lose_track()
        del self._open[at]
        self._floor = min(self._floor, len(self._open))

    def _close_part(self, tag: str) -> None:
        table = self._nearest(_TABLE_SCOPE)
        if self._holder() == tag:
            self._cut(self._holder_at())
        elif table < self._floor or self._open[table] != "table" or self._has_foreign:
            self._lose_track()
        elif tag == "table":
            self._cut(table)
        elif tag in self._open[table:]:
            self._cut(len(self._open) - 1 - self._open[::-1].index(tag))
        else:
            self._lose_track()

    def _close_nearest(self, tag: str, barriers: Collection[str]) -> None:
        """Close the nearest one if the parser certainly does."""
        for at in range(len(self._open) - 1, -1, -1):
            name = self._open[at]
            self._steps -= 1
            if name == tag:
                if at >= self._floor or at == self._holder_at():
                    self._cut_unless_loose(at)
                else:
                    self._lose_track()
                return
            if name in barriers or not name:
                break
        self._lose_track()

    def _cut_unless_loose(self, at: int) -> None:
        """Reopened formatting keeps the parser from closing elements that hold HTML."""
        if self._has_foreign and at < len(self._open) - 1:
            self._lose_track()
        elif self._has_foreign and self._open[at] in INTEGRATION and self._is_loose():
            self._open[at] = _UNCLOSED
        else:
            self._cut(at)

    def _cut(self, at: int, *, is_closed: bool = True) -> None:
        """Close from here on, except formatting, which continues in what follows.

        An element that is dropped rather than closed is recorded: no end tag reaches formatting
        before it.
        """
        closed = self._open[at:]
        self._steps -= len(closed)
        ends_formatting = is_closed and closed[0] in MARKERS and at >= self._floor
        kept = [] if ends_formatting else [one.upper() for one in closed if one in _LIGHT]
        self._open[at:] = kept
        self._floor = min(self._floor, at)
        if not MARKERS.isdisjoint(closed[is_closed:]):
            self._stray = len(self._open)
        self._implied -= 2 * closed.count("table")
        if at <= self._base:
            self._base = -1
        if self._has_foreign:
            self._has_foreign = self._is_within(FOREIGN)
        if self._is_murky and "template" not in self._open:
            self._is_murky = self._is_within(_MURKY)

    def _holder_at(self) -> int:
        """The innermost element that is not formatting."""
        at = len(self._open) - 1
        while at >= 0 and self._open[at] in _LIGHT:
            at -= 1
        self._steps -= len(self._open) - at
        return at

    def _holder(self) -> str:
        at = self._holder_at()
        return self._open[at] if at >= 0 else _UNCLOSED

    def _nearest(self, names: Collection[str]) -> int:
        at = len(self._open) - 1
        while at >= 0 and self._open[at] not in names:
            at -= 1
        self._steps -= len(self._open) - at
        return at


def _barriers_of(tag: str) -> Collection[str]:
    if tag == "li":
        return _SCOPE | {"ol", "ul"}
    if tag == "p":
        return _SCOPE | {"button"}
    return _SCOPE if tag in SPECIAL else _BARRIERS


def _is_cut_short(token: Token) -> bool:
    """Whether it is a CDATA section that continues where the tokenizer, assuming HTML, ended it."""
    data = token.data or ""
    return (
        token.type is TokenType.COMMENT
        and data.startswith("[CDATA[")
        and not (data.endswith("]]") and len(data) > _SHORTEST_CDATA)
    )


def _raw_text(tokens: Iterator[Token]) -> tuple[str, bool]:
    """The text of the last opened element, without its references, and whether it ends."""
    texts: list[str] = []
    for token in tokens:
        if token.tag:
            return "".join(texts), True
        if token.type is TokenType.TEXT:
            texts.append(token.data or "")
    return "".join(texts), False


def _last_tag(html: str) -> str:
    """The name of an end tag at the very end."""
    *_, last = tokenize(html, capture_attributes=False)
    return last.tag or "" if last.type is TokenType.END_TAG else ""


def _tokens(html: str) -> Iterator[Token]:
    return tokenize(html, capture_attributes=False, resolve_references=False)
