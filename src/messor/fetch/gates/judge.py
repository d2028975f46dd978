"""The judge: from one response to a verdict.

An ordinary page is recognised by its status, headers, title and amount of text without scanning its
markup. Only a conspicuous response is examined closely.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from messor.fetch.gates.answer import THIN_CHARS, GateInput, look_at
from messor.fetch.gates.headers import HeaderReading, read_headers
from messor.fetch.gates.sentences import sentence_in
from messor.fetch.gates.shells import is_shell
from messor.fetch.gates.titles import NOT_FOUND, kind_of_title
from messor.fetch.gates.vendors import (
    challenge_in,
    gatekeeper_in,
    traces_in,
    traces_of_url,
    widget_in,
)
from messor.fetch.gates.verdict import (
    CONSENT_WALL,
    DENIED,
    EMPTY,
    FRICTION_STATUS,
    GATES,
    KINDS,
    LOGIN_WALL,
    Block,
    GateVerdict,
)
from messor.fetch.gates.walls import consent_wall, login_wall, soft_404
from messor.web.html import PageReading

MIN_BYTES = 2_048
MIN_TEXT_RATIO = 0.05

# A page with more text is not judged a block by its markup or title.
_BLOCK_CHARS = 1_500
# Above this a page has content, and its scripts are not searched for traces.
_TRACE_CHARS = 800
# Text without a single tag, served as a page.
_BARE_CHARS = 200
_GONE = frozenset({404, 410})
# What can be visible to a reader although there is no text.
# Some servers refuse crawlers with "I'm a teapot" and next to no text; with a text it is a joke.
_TEAPOT = 418
_ENOUGH_CHARS = 200
# How a page names itself in its head: scripts would show it, and no other page stands in its place.
_OWN = ('rel="canonical"', 'property="og:', 'name="description"')
_SHOWS = ("<script", "<iframe", "<frame", "<img", "<svg", "<canvas", "<video", "<object", "<embed",
          "http-equiv")  # fmt: skip
# Title kinds that are judged with the content, not on their own.
_NO_BOT_BLOCK = (None, LOGIN_WALL, CONSENT_WALL, NOT_FOUND)
_CLEAN = GateVerdict()


def judge(
    *,
    status: int,
    headers: Mapping[str, str],
    html: str,
    reading: PageReading | None,
    size: int,
    url: str = "",
) -> GateVerdict:
    """The gates a response fails, whether it is a block, and the friction it shows.

    `html` is the decoded text and `size` its length in bytes. Without a reading only the markup is
    judged, with `url` where known, and only for being a block: missing content can only be judged
    on a page that was read.
    """
    seen = read_headers(headers)
    if reading is None:
        return _judge_closely(look_at(status, html, None, url), seen, html, reading, size)
    named = kind_of_title(reading.title)
    if (
        reading.text_length >= THIN_CHARS
        and named is None
        and seen.block is None
        and status not in FRICTION_STATUS
    ):
        return _ordinary(reading.text_length, len(html), size, seen)
    return _judge_closely(look_at(status, html, reading), seen, html, reading, size)


def _ordinary(text: int, chars: int, size: int, seen: HeaderReading) -> GateVerdict:
    gates = () if size >= MIN_BYTES else ("size",)
    if text < MIN_TEXT_RATIO * chars:
        gates = (*gates, "text_ratio")
    if not gates and not seen.traces:
        return _CLEAN
    return GateVerdict(gates, None, _signals_of_traces(seen.traces, None))


def _judge_closely(
    answer: GateInput, seen: HeaderReading, html: str, reading: PageReading | None, size: int
) -> GateVerdict:
    traces = [*seen.traces, *traces_of_url(answer.url)]
    if answer.length < _TRACE_CHARS or answer.status in FRICTION_STATUS:
        traces += traces_in(answer.html)
    block = seen.block or _block(answer)
    failed = _measures(answer, size)
    if reading is not None:
        failed |= _content_gates(answer, html, reading, block)
        if EMPTY in failed and not traces:
            block = _emptiness(answer, html)
    failed |= _block_gates(block, answer)
    return GateVerdict(
        tuple(name for name in GATES if name in failed),
        block,
        (*_friction(answer, block, failed), *_signals_of_traces(traces, block)),
    )


def _measures(answer: GateInput, size: int) -> set[str]:
    """The gates that only measure."""
    failed = set()
    if answer.status in FRICTION_STATUS:
        failed.add("status")
    if size < MIN_BYTES:
        failed.add("size")
    return failed


def _content_gates(
    answer: GateInput, html: str, reading: PageReading, block: Block | None
) -> set[str]:
    """The content gates failed by a response that was read."""
    failed = {"text_ratio"} if reading.text_length < MIN_TEXT_RATIO * len(html) else set()
    if block is not None or not answer.is_success:
        return failed
    if soft_404(reading):
        failed.add("soft_404")
    elif is_shell(answer, html):
        failed.add("spa_shell")
    elif answer.length == 0 or _is_bare_text(answer, html):
        failed.add(EMPTY)
    return failed


def _block(answer: GateInput) -> Block | None:
    """The block a response is, if any; a refusing status is one regardless of content."""
    refused = answer.status in FRICTION_STATUS
    if refused or answer.length < _BLOCK_CHARS:
        block = challenge_in(answer.html)
        if block is None and answer.length == 0:
            block = gatekeeper_in(answer.html)
        if block is not None:
            return block
    if refused or (answer.status < 500 and answer.status not in _GONE):
        block = _block_by_words(answer, refused=refused)
        if block is not None:
            return block
    if refused:
        return widget_in(answer.html) or Block(
            FRICTION_STATUS[answer.status], f"HTTP {answer.status}"
        )
    if answer.status == _TEAPOT and answer.length < _ENOUGH_CHARS:
        return Block(DENIED, f"HTTP {answer.status}")
    return None


def _block_by_words(answer: GateInput, *, refused: bool) -> Block | None:
    named = kind_of_title(answer.title)
    if named not in _NO_BOT_BLOCK and (refused or answer.length < _BLOCK_CHARS):
        return Block(str(named), answer.title)
    block = sentence_in(answer)
    if block is not None or not answer.is_success:
        return block
    return _wall(answer, named)


def _wall(answer: GateInput, named: str | None) -> Block | None:
    for by, find in ((CONSENT_WALL, consent_wall), (LOGIN_WALL, login_wall)):
        evidence = find(answer, named)
        if evidence is not None:
            return Block(by, evidence)
    return None


def _emptiness(answer: GateInput, html: str) -> Block | None:
    """A page that shows nothing and cannot: it replaces one that would."""
    if _is_bare_text(answer, html):
        return Block(EMPTY, answer.text)
    markup = answer.html.lower()
    if any(tag in markup for tag in _SHOWS) or any(mark in markup for mark in _OWN):
        return None
    return Block(EMPTY, f"HTTP {answer.status} without visible text")


def _is_bare_text(answer: GateInput, html: str) -> bool:
    """A line of text without any tag; data such as JSON does not count."""
    return 0 < len(html) < 2 * _BARE_CHARS and (
        answer.length < _BARE_CHARS and "<" not in html and html.lstrip()[:1] not in ("{", "[")
    )


def _block_gates(block: Block | None, answer: GateInput) -> set[str]:
    if block is None or block.by == EMPTY:
        return set()
    if block.by in (LOGIN_WALL, CONSENT_WALL):
        return {block.by}
    return set() if block.evidence == f"HTTP {answer.status}" else {"bot_block"}


def _friction(answer: GateInput, block: Block | None, failed: set[str]) -> list[str]:
    signals = [str(answer.status)] if "status" in failed else []
    if EMPTY in failed:
        signals.append(EMPTY)
    if block is None or block.by == EMPTY:
        return signals
    if block.by not in KINDS:
        signals.append(f"challenge:{block.by}")
    elif "status" not in failed:
        signals.append(block.by)
    return signals


def _signals_of_traces(traces: Iterable[str], block: Block | None) -> tuple[str, ...]:
    by = block.by if block is not None else None
    return tuple(f"trace:{vendor}" for vendor in dict.fromkeys(traces) if vendor != by)
