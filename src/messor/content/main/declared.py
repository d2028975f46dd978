"""What a page declares about itself that helps to find its main content: titles, type, body."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass

from turbohtml import Document, Element

from messor.content.main.headline import plain

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


@dataclass(frozen=True, slots=True)
class Declared:
    """What a page declares about itself; none of it needs to be true."""

    titles: tuple[str, ...] = ()  # normalised to words
    is_article: bool = False
    is_product: bool = False
    body: str = ""  # article body as plain text


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
    for script in document.select('script[type="application/ld+json"]')[:_MAX_SCRIPTS]:
        text = script.text[:_MAX_SCRIPT]
        is_article = is_article or _says_article(text)
        is_product = is_product or _says_product(text)
        body = body or _declared_body(text)
    is_product = is_product or document.select_one(_OFFERS) is not None
    words = map(plain, dict.fromkeys(titles))  # most are equal without normalising
    return Declared(tuple(dict.fromkeys(filter(None, words))), is_article, is_product, body)


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
