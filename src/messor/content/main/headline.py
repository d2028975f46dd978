"""What a page declares about itself (titles, type, body), and its headline: the heading like a title."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass

from turbohtml import Document, Element

from messor.content.main import hints
from messor.content.main.blocks import Layout
from messor.content.main.thread import THREAD, says_thread

_TITLES = ("og:title", "twitter:title")
_PRICES = ("product:price:amount", "og:price:amount")
_TELLING = frozenset(("og:type", "article:published_time", *_TITLES, *_PRICES))
_OFFERS = '[itemprop="price"], [itemprop="offers"], [itemtype$="schema.org/Product"]'
_ARTICLE_TYPES = frozenset(("article", "blog", "blogposting", "news", "newsarticle", "post"))
_PRODUCT_TYPES = frozenset(("product", "og:product", "product.item"))
_MAX_METAS = 200
_MAX_SCRIPTS = 64
_MAX_BODY = 200_000
_MAX_SCRIPT = 1_000_000

# Possessive, to avoid backtracking over adjacent runs of spaces.
_TYPE = r'"@type"\s*+:\s*+\[?+\s*+"'
_ARTICLE_TYPE = re.compile(rf'{_TYPE}[A-Za-z]*(?:Article|BlogPosting)"')
_PRODUCT_TYPE = re.compile(rf'{_TYPE}Product(?:Group)?"')
_find_body = re.compile(r'"articleBody"\s*:\s*"((?:[^"\\]|\\.)*+)"').search
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
HEADINGS = frozenset(("h1", "h2", "h3"))
_MAX_TITLE = 500
# Shorter headings ("News") are a prefix of too many titles.
_MIN_TITLE = 15
_MAX_DATELINE = 120
_DATELINE_REACH = 8
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_words = re.compile(r"\w+").findall


@dataclass(frozen=True, slots=True)
class Declared:
    """What a page declares about itself; none of it needs to be true."""

    titles: tuple[str, ...] = ()  # normalised to words
    is_article: bool = False
    is_product: bool = False
    body: str = ""  # article body as plain text
    is_thread: bool = False  # posts of several people: a forum's topic, a question with answers


def read_declared(document: Document | Element) -> Declared:
    """Read the head of a page and its structured data, as far as they concern an article."""
    titles: list[str] = []
    title = document.find("title")
    is_article = False
    is_product = False
    for meta in document.select("meta")[:_MAX_METAS]:
        name = meta.attr("property") or meta.attr("name")
        if name not in _TELLING:
            continue
        value = (meta.attr("content") or "").strip()
        if name == "og:type":
            is_article |= value.lower() in _ARTICLE_TYPES
            is_product |= value.lower() in _PRODUCT_TYPES
        elif name in _TITLES:
            titles.append(value)
        is_article |= name == "article:published_time"
        is_product |= name in _PRICES
    if title is not None:
        titles.append(title.text)
    body = ""
    is_thread = False
    for script in document.select('script[type="application/ld+json"]')[:_MAX_SCRIPTS]:
        text = script.text[:_MAX_SCRIPT]
        is_article = is_article or _says_article(text)
        is_product = is_product or _says_product(text)
        body = body or _declared_body(text)
        is_thread = is_thread or says_thread(text)
    is_product = is_product or document.select_one(_OFFERS) is not None
    is_thread = is_thread or document.select_one(THREAD) is not None
    words = map(plain, dict.fromkeys(titles))  # most are equal without normalising
    return Declared(
        tuple(dict.fromkeys(filter(None, words))), is_article, is_product, body, is_thread
    )


# find() is many times faster than a pattern, and most pages have no match.
def _says_article(script: str) -> bool:
    if "Article" in script or "BlogPosting" in script:
        return _ARTICLE_TYPE.search(script) is not None
    return False


def _says_product(script: str) -> bool:
    return "Product" in script and _PRODUCT_TYPE.search(script) is not None


def _declared_body(script: str) -> str:
    found = _find_body(script) if "articleBody" in script else None
    if found is None:
        return ""
    try:
        text = str(json.loads(f'"{found[1]}"', strict=False))
    except ValueError:
        return ""
    return html.unescape(_TAG.sub(" ", html.unescape(text[:_MAX_BODY])))


def plain(title: str) -> str:
    """Normalise a title to its words, for comparison."""
    text = title[:_MAX_TITLE].casefold()
    words = text.split()
    # Text of only letters, digits and spaces is split without a pattern.
    return " ".join(words if "".join(words).isalnum() else _words(text))


def is_title(heading: str, titles: tuple[str, ...]) -> bool:
    """Whether a heading equals a title, or a title is the heading plus a site name."""
    if len(heading) > _MAX_TITLE:
        return False
    # Most headings end in a word that no title contains; nothing more needs checking.
    last = heading.rpartition(" ")[2]
    if last.isascii() and last.isalnum():
        low = last.lower()
        for title in titles:
            if low in title:
                break
        else:
            return False
    text = plain(heading)
    return text in titles or (len(text) >= _MIN_TITLE and any(text in title for title in titles))


def find_headline(layout: Layout, titles: tuple[str, ...]) -> int | None:
    """Return the block index of the headline: one like a title, else the only h1.

    A heading that is a link usually leads to another page, so it comes last.
    """
    blocks = layout.blocks
    tops: list[int] = []
    linked: list[int] = []
    for place, kind in enumerate(blocks.kinds):
        if kind not in HEADINGS:
            continue
        if blocks.linked[place] * 2 >= blocks.sizes[place]:
            if kind != "h3" and is_title(blocks.texts[place], titles):
                linked.append(place)
        elif is_title(blocks.texts[place], titles):
            return place
        elif kind == "h1":
            tops.append(place)
    return tops[0] if len(tops) == 1 else next(iter(linked), None)


def has_dateline(layout: Layout, headline: int | None) -> bool:
    """Whether author or date closely follow the headline, as in articles."""
    if headline is None:
        return False
    blocks = layout.blocks
    near = slice(headline + 1, headline + 1 + _DATELINE_REACH)
    return any(
        len(text) <= _MAX_DATELINE
        and layout.boxes.hints.get(box, 0) & hints.BYLINE
        and _YEAR.search(text)
        for text, box in zip(blocks.texts[near], blocks.boxes[near], strict=True)
    )
