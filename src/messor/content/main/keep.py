"""Selects the content blocks in the main box: without the headline and interspersed boilerplate."""

from __future__ import annotations

from messor.content.main.blocks import Blocks, Layout
from messor.content.main.headline import HEADINGS, is_title
from messor.content.main.phrases import MAX_ASIDE, is_aside, may_begin
from messor.content.main.weigh import Weights
from messor.content.memory import Memory

_ALL_HEADINGS = HEADINGS | {"h4", "h5", "h6"}
_LOOSE = frozenset(("p", "", "blockquote", "figcaption"))
_LINKED = 0.95
_MOSTLY_LINKED = 0.8
_REPEATED = 40


def keep_article(
    layout: Layout, weights: Weights, root: int, titles: tuple[str, ...], memory: Memory
) -> list[int]:
    """Return the indices of the blocks of an article whose box is `root`."""
    blocks = layout.blocks
    kinds, texts, sizes, linked = blocks.kinds, blocks.texts, blocks.sizes, blocks.linked
    start, end = layout.boxes.starts[root], layout.boxes.ends[root]
    all_furniture = weights.is_boilerplate(layout, root)
    begins, asides = memory.memo(may_begin), memory.memo(is_aside)
    kept: list[int] = []
    seen: set[str] = set()
    for place in range(start, end) if all_furniture else weights.free_within(start, end):
        kind, text, size = kinds[place], texts[place], sizes[place]
        if linked[place] and kind in _LOOSE and _leads_elsewhere(text, size, linked[place]):
            continue
        if size <= MAX_ASIDE and begins[text[:3]] and kind != "pre" and asides[text]:
            continue
        if kind in HEADINGS and is_title(text, titles):
            continue
        if size >= _REPEATED:
            if text in seen:
                continue
            seen.add(text)
        kept.append(place)
    return _without_loose_headings(blocks, kept)


def _leads_elsewhere(text: str, size: int, linked: int) -> bool:
    """Whether a block is only a link to another page."""
    if size <= 12:
        return False
    share = linked / size
    if share > _LINKED and not text.startswith(("http", "www.")):
        return True
    return share > _MOSTLY_LINKED and size > 60


def _without_loose_headings(blocks: Blocks, kept: list[int]) -> list[int]:
    """Drop headings followed only by another heading of links, or by the end."""
    kinds, sizes = blocks.kinds, blocks.sizes
    result: list[int] = []
    follows = False
    for place in reversed(kept):
        if kinds[place] in _ALL_HEADINGS:
            linked = blocks.linked[place] * 2 > sizes[place]
            if not result or (linked and not follows):
                continue
        else:
            follows = sizes[place] >= _REPEATED
        result.append(place)
    result.reverse()
    return result
