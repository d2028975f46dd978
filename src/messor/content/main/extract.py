"""Main content extraction: a page in, its main text and markdown out.

An article is cut out where its running text is densest. Any other page keeps everything but the
site's frame, so a page with visible text never yields empty content.
"""

from __future__ import annotations

from dataclasses import dataclass

from turbohtml import Document, Element

from messor.content.lists import Lists
from messor.content.main import hints
from messor.content.main.blocks import Layout
from messor.content.main.choose import choose_root, follow_body
from messor.content.main.headline import Declared, find_headline, has_dateline, read_declared
from messor.content.main.inline import escape
from messor.content.main.keep import keep_article, keep_page
from messor.content.main.render import render
from messor.content.main.walk import read_layout
from messor.content.main.weigh import Weights, weigh
from messor.content.memory import Memory
from messor.web.html import parse_document
from messor.web.text import storable

# Minimum running text of an article: on a page that declares itself one, and on one that does not,
# where it must also be this share of all readable text.
_DECLARED_RUNNING = 150
_DECLARED_SHARE = 0.15
_RUNNING = 250
_SHARE = 0.6
_PRODUCT_SHARE = 0.9
# Much running text in one place needs a smaller share, if little of it is elsewhere.
_MUCH_RUNNING = 1_000
_MUCH_SHARE = 0.3
_MUCH_MORE = 2.5
# The declared body replaces a text that is shorter by this factor.
_FAR_SHORTER = 0.5
_MIN_BODY = 400
# With less text than this, the frame of a page is read as well.
_LITTLE = 100


@dataclass(frozen=True, slots=True)
class MainContent:
    """The main content of a page."""

    text: str  # plain text, one line per block, without an article's headline
    markdown: str  # with the headline, if any
    headline: str  # empty if none was found
    is_article: bool  # whether it was read as an article


def read_main(
    source: Document | Element | str, url: str, lists: Lists | None = None
) -> MainContent:
    """Read the main content of a page, given as tree or HTML, found at `url`.

    Pass `lists` to share serialised lists with other readers of the page, and what is remembered of
    other pages.

    Disproportionate HTML raises TooComplexError, as everywhere; nothing else is raised.
    """
    document = parse_document(source) if isinstance(source, str) else source
    lists = lists or Lists()
    declared = read_declared(document)
    layout = read_layout(document, lists)
    if sum(layout.blocks.sizes) < _LITTLE:
        layout = read_layout(document, lists, whole=True)
    weights = weigh(layout)
    place = find_headline(layout, declared.titles)
    headline = "" if place is None else " ".join(layout.blocks.texts[place].split())
    kept = _keep_article(layout, weights, place, declared, lists.memory)
    is_article = kept is not None
    if kept is None:
        kept = keep_page(layout, weights, place, is_product=declared.is_product)
    text, markdown = render(layout, kept, url)
    if len(declared.body) >= _MIN_BODY and len(text) < len(declared.body) * _FAR_SHORTER:
        text, markdown = _given(declared.body)
        is_article = True
    if not text:
        text, markdown = _given(_unseen_text(document))
    if is_article and headline:
        markdown = f"# {escape(headline)}\n\n{markdown}"
    return MainContent(storable(text), storable(markdown), storable(headline), is_article)


def _keep_article(
    layout: Layout, weights: Weights, headline: int | None, declared: Declared, memory: Memory
) -> list[int] | None:
    """Return the blocks of the article; None if the page does not read like one."""
    root = choose_root(layout, weights, headline)
    if declared.body:
        root = follow_body(layout, root, declared.body)
    if root is None:
        return None
    kept = keep_article(layout, weights, root, declared.titles, memory)
    running = sum(map(weights.running.__getitem__, kept))
    readable = sum(sum(layout.blocks.sizes[start:end]) for start, end in weights.free)
    if declared.is_product and not declared.is_article:
        is_one = running >= max(_RUNNING, readable * _PRODUCT_SHARE)
    elif (
        declared.is_article
        or layout.boxes.hints.get(root, 0) & hints.WHOLE_BODY > 0
        or has_dateline(layout, headline)
    ):
        is_one = running >= max(_DECLARED_RUNNING, readable * _DECLARED_SHARE)
    else:
        is_one = _reads_like_one(weights, running, readable)
    return kept if is_one else None


def _reads_like_one(weights: Weights, running: int, readable: int) -> bool:
    """Whether a page not declared as an article has enough text in one place to be one."""
    if running >= max(_RUNNING, readable * _SHARE):
        return True
    elsewhere = sum(weights.within(start, end) for start, end in weights.free) - running
    return running >= max(_MUCH_RUNNING, readable * _MUCH_SHARE, elsewhere * _MUCH_MORE)


def _given(text: str) -> tuple[str, str]:
    """Render text without markup, one paragraph per line."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    paragraphs = [line for line in lines if line]
    return "\n".join(paragraphs), "\n\n".join(escape(line) for line in paragraphs)


def _unseen_text(document: Document | Element) -> str:
    """Return the remaining text of a page without text of its own: buttons and noscript content."""
    return "\n".join(
        element.text for element in document.select("button, option, noscript, textarea")
    )
