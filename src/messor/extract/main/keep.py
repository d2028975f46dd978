"""Which blocks within the main box are content: not the headline, nor what stands between."""

from __future__ import annotations

from messor.extract.main.blocks import Block, Layout
from messor.extract.main.headline import is_headline
from messor.extract.main.phrases import is_aside
from messor.extract.main.weigh import Weights

_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_LINKED = 0.95
_MOSTLY_LINKED = 0.8
_REPEATED = 40


def keep_article(layout: Layout, weights: Weights, root: int, titles: tuple[str, ...]) -> list[int]:
    """The places of the blocks of an article whose box is `root`."""
    box = layout.boxes[root]
    kept: list[int] = []
    seen: set[str] = set()
    for place in range(box.start, box.end):
        block = layout.blocks[place]
        if weights.furniture[block.box] and not weights.furniture[root]:
            continue
        if is_beside(block) or block.text in seen:
            continue
        if is_headline(block, titles):
            continue
        if len(block.text) >= _REPEATED:
            seen.add(block.text)
        kept.append(place)
    return _without_loose_headings(layout, kept)


def is_beside(block: Block) -> bool:
    """Whether a block is a mere link to elsewhere or a call to the reader."""
    size = len(block.text)
    if block.kind in ("p", "", "blockquote", "figcaption") and size > 12:
        share = block.linked / size
        if share > _LINKED and not block.text.startswith(("http", "www.")):
            return True
        if share > _MOSTLY_LINKED and size > 60:
            return True
    return block.kind != "pre" and is_aside(block.text)


def _without_loose_headings(layout: Layout, kept: list[int]) -> list[int]:
    """Drop headings after which nothing comes but another heading of links, or the end."""
    result: list[int] = []
    follows = False
    for place in reversed(kept):
        block = layout.blocks[place]
        if block.kind in _HEADINGS:
            linked = block.linked * 2 > len(block.text)
            if not result or (linked and not follows):
                continue
        else:
            follows = len(block.text) >= _REPEATED
        result.append(place)
    result.reverse()
    return result
