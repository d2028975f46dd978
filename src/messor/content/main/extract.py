"""Main content extraction: a page in, its main text and markdown out.

An article is cut out where its running text is densest. A thread of a forum keeps all its posts, and
any other page everything but the site's frame, so a page with visible text never yields empty
content.
"""

from __future__ import annotations

from dataclasses import dataclass

from turbohtml import Document, Element

from messor.content.lists import Lists
from messor.content.main import hints
from messor.content.main.blocks import Layout
from messor.content.main.choose import choose_root, follow_body
from messor.content.main.complete import complete
from messor.content.main.features import Facts, read_columns
from messor.content.main.headline import Declared, find_headline, has_dateline, read_declared
from messor.content.main.inline import escape
from messor.content.main.keep import keep_article, keep_page
from messor.content.main.lexicon import Lexicon
from messor.content.main.model import choose, likelihoods
from messor.content.main.render import render
from messor.content.main.thread import is_thread_url
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
# Text for visitors without scripts is the content if it has this many characters and exceeds the
# text outside it by this factor.
_UNSCRIPTED = 500
_FAR_LONGER = 2
# With less text than this, the frame of a page is read as well.
_LITTLE = 100
# A page with fewer blocks is read by the rules alone.
_FEW = 20
# Share of the page's running text outside boilerplate that makes the rules' article whole.
_WHOLE = 0.7
# How far the model is believed about text that the rules call boilerplate, on an article.
_DOUBT = 0.1
# The rules' article stands if the model's choice agrees with it this far.
_AGREED = 0.6


@dataclass(frozen=True, slots=True)
class Outline:
    """A page's layout, and what the rules make of it."""

    layout: Layout
    weights: Weights
    declared: Declared
    facts: Facts
    is_thread: bool

    @property
    def ruled(self) -> list[int]:
        """The blocks that the rules keep."""
        return list(self.facts.article if self.facts.is_article else self.facts.page)

    @property
    def is_plain_article(self) -> bool:
        """Whether the page declares itself an article and reads like one."""
        declared = self.declared
        return self.facts.is_article and declared.is_article and not declared.is_product

    @property
    def is_whole(self) -> bool:
        """Whether the rules' article holds nearly all running text outside boilerplate."""
        weights = self.weights
        free = sum(weights.within(start, end) for start, end in weights.free)
        return sum(map(weights.running.__getitem__, self.facts.article)) >= free * _WHOLE


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
    found = outline(document, url, lists)
    declared, layout, place = found.declared, found.layout, found.facts.headline
    headline = "" if place is None else " ".join(layout.blocks.texts[place].split())
    is_article = found.facts.is_article
    text, markdown = render(layout, choose_blocks(found, lists.memory), url)
    if (
        not found.is_thread
        and len(declared.body) >= _MIN_BODY
        and len(text) < len(declared.body) * _FAR_SHORTER
    ):
        text, markdown = _given(declared.body)
        is_article = True
    if not text:
        text, markdown = _given(_unseen_text(document))
    if is_article and headline:
        markdown = f"# {escape(headline)}\n\n{markdown}"
    return MainContent(storable(text), storable(markdown), storable(headline), is_article)


def outline(document: Document | Element, url: str, lists: Lists) -> Outline:
    """Read a page's layout, and what the rules would keep of it."""
    declared = read_declared(document)
    layout = _read_layout(document, lists)
    weights = weigh(layout)
    place = find_headline(layout, declared.titles)
    is_thread = declared.is_thread or is_thread_url(url)
    root = choose_root(layout, weights, place)
    if declared.body:
        root = follow_body(layout, root, declared.body)
    article: list[int] = []
    if root is not None:
        article = keep_article(layout, weights, root, declared.titles, lists.memory)
    has_date = has_dateline(layout, place)
    is_declared = (
        declared.is_article
        or has_date
        or (root is not None and layout.boxes.hints.get(root, 0) & hints.WHOLE_BODY > 0)
    )
    is_article = not is_thread and _is_article(layout, weights, article, declared, is_declared)
    said = declared.is_article + 2 * declared.is_product + 4 * is_thread + 8 * has_date
    page = keep_page(layout, weights, place, is_product=declared.is_product)
    facts = Facts(place, root, article, page, said, is_article)
    return Outline(layout, weights, declared, facts, is_thread)


def choose_blocks(found: Outline, memory: Memory) -> list[int]:
    """Return the blocks of the main content.

    The rules have the say on an article whose running text they hold nearly whole; elsewhere the
    model judges each block. An article that declares itself one keeps what the rules found unless the
    model sees a different text.
    """
    if len(found.layout.blocks.texts) < _FEW or (found.is_plain_article and found.is_whole):
        return found.ruled
    lexicon = Lexicon.of(memory)
    columns = read_columns(found.layout, found.weights, found.facts, lexicon, memory)
    return choose_from(found, likelihoods(columns))


def choose_from(found: Outline, likely: list[float]) -> list[int]:
    """Return the blocks of the main content, given how likely the model finds each."""
    sizes = found.layout.blocks.sizes
    if not found.is_plain_article:
        return complete(found.layout, choose(likely, sizes))
    ruled = found.ruled
    if found.is_whole:
        return ruled
    known = set(found.weights.free_within(0, len(sizes))).union(ruled)
    doubted = [value if place in known else value * _DOUBT for place, value in enumerate(likely)]
    chosen = complete(found.layout, choose(doubted, sizes))
    return ruled if _agreement(chosen, ruled, sizes) >= _AGREED else chosen


def _agreement(one: list[int], other: list[int], sizes: list[int]) -> float:
    """Return the F1 of two choices of blocks."""
    common = sum(sizes[place] for place in set(one).intersection(other))
    both = sum(sizes[place] for place in one) + sum(sizes[place] for place in other)
    return 2 * common / both if both else 0.0


def _read_layout(document: Document | Element, lists: Lists) -> Layout:
    """Read the page as visitors without scripts see it, if scripts would have made its text."""
    layout = read_layout(document, lists)
    size = sum(layout.blocks.sizes)
    for unscripted in document.select("noscript"):
        # Forums are often served this way: an empty page, and the whole thread for crawlers.
        if len(unscripted) > 1 and len(unscripted.text) > max(_UNSCRIPTED, size * _FAR_LONGER):
            inside = read_layout(parse_document(f"<body>{unscripted.inner_html}"), lists)
            if sum(inside.blocks.sizes) > max(_UNSCRIPTED, size * _FAR_LONGER):
                return inside
    return read_layout(document, lists, whole=True) if size < _LITTLE else layout


def _is_article(
    layout: Layout, weights: Weights, kept: list[int], declared: Declared, is_declared: bool
) -> bool:
    """Whether the page reads like an article with these blocks."""
    if not kept:
        return False
    running = sum(map(weights.running.__getitem__, kept))
    readable = sum(sum(layout.blocks.sizes[start:end]) for start, end in weights.free)
    if declared.is_product and not declared.is_article:
        return running >= max(_RUNNING, readable * _PRODUCT_SHARE)
    if is_declared:
        return running >= max(_DECLARED_RUNNING, readable * _DECLARED_SHARE)
    return _reads_like_one(weights, running, readable)


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
