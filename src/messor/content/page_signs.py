"""Signs of a page's type: structured data, URL, title, forms and layout.

Each sign adds weight to one type and gives a reason. Words come from `frontier.categories`, and
from `data/page_types.toml` where pages differ by more than their names. `page_type` sums the signs up.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from typing import Any

from messor.content.bylines import BYLINES, marked
from messor.content.dates import fold
from messor.content.lines import read_marks
from messor.content.main.thread import is_thread_url
from messor.content.memory import Memory
from messor.content.plain import one_space
from messor.content.view import PageView
from messor.content.visible_lines import BodyLines, holder_of
from messor.core.words import load, phrases
from messor.frontier.categories import categorise

QUESTION_MARKS = ("?", "？", "؟", "\u037e")  # noqa: RUF001 - full width

TYPE_OF_CATEGORY = {
    "services": "service",
    "products": "listing",
    "home": "home",
    "about": "about",
    "pricing": "pricing",
    "contact": "contact",
    "menu": "menu",
    "faq": "faq",
}
# schema.org types: the page type they indicate, and their weight.
_ITEMS: dict[str, tuple[str, float]] = {
    "NewsArticle": ("article", 3.0), "Article": ("article", 2.5), "BlogPosting": ("article", 3.0),
    "ReportageNewsArticle": ("article", 3.0), "OpinionNewsArticle": ("article", 3.0),
    "AnalysisNewsArticle": ("article", 3.0), "TechArticle": ("documentation", 2.0),
    "APIReference": ("documentation", 3.0), "DiscussionForumPosting": ("forum", 3.5),
    "ScholarlyArticle": ("article", 2.5), "LiveBlogPosting": ("article", 3.0),
    "Recipe": ("article", 2.0), "FAQPage": ("faq", 2.5), "QAPage": ("forum", 2.5),
    "ContactPage": ("contact", 3.0), "AboutPage": ("about", 3.0), "ProfilePage": ("about", 0.5),
    "CollectionPage": ("listing", 2.0), "SearchResultsPage": ("search", 3.0),
    "CheckoutPage": ("cart", 3.0), "ItemPage": ("product", 1.0), "JobPosting": ("job", 3.0),
    "Menu": ("menu", 2.5), "MenuItem": ("menu", 1.0), "OfferCatalog": ("listing", 1.0),
    "Service": ("service", 1.0),
}  # fmt: skip
_OPENGRAPH = {
    "article": ("article", 1.5), "product": ("product", 2.5), "og:product": ("product", 2.5),
    "product.item": ("product", 2.5), "product.group": ("listing", 2.0), "event": ("event", 2.0),
    "news": ("article", 1.5), "blog": ("listing", 0.3),
}  # fmt: skip
_PRODUCTS = frozenset(
    ("Product", "ProductGroup", "IndividualProduct", "Car", "Book", "ProductModel")
)
_EVENTS = frozenset(("Event", "MusicEvent", "BusinessEvent", "EducationEvent", "TheaterEvent",
                     "SportsEvent", "Festival", "ExhibitionEvent", "SocialEvent"))  # fmt: skip
# Names of meta elements.
_TIMES = frozenset(("article:published_time", "article:section", "parsely-pub-date"))
_OFFERS = frozenset(("product:price:amount", "og:price:amount", "product:availability"))
# Software that makes one kind of page, as named by the head's generator.
_GENERATORS = {
    "discourse": ("forum", 3.0), "phpbb": ("forum", 3.0), "vbulletin": ("forum", 3.0),
    "xenforo": ("forum", 3.0), "mybb": ("forum", 3.0), "flarum": ("forum", 3.0),
    "simple machines": ("forum", 3.0), "vanilla": ("forum", 2.0), "nodebb": ("forum", 3.0),
    "sphinx": ("documentation", 3.5), "mkdocs": ("documentation", 3.5),
    "docusaurus": ("documentation", 3.5), "gitbook": ("documentation", 3.5),
    "mdbook": ("documentation", 3.5), "vitepress": ("documentation", 3.0),
    "doxygen": ("documentation", 3.5), "javadoc": ("documentation", 3.5),
    "rustdoc": ("documentation", 3.5), "antora": ("documentation", 3.5),
    "asciidoctor": ("documentation", 3.0), "starlight": ("documentation", 3.0),
}  # fmt: skip
_REFERENCE_HOST = re.compile(r"https?://(?:docs?|developers?|help|learn|manual|api|dev|wiki)\.")
_CODE = 3  # preformatted texts
_DATED = re.compile(r"/(?:19|20)\d\d[/-]\d{1,2}(?:[/-]|$)")
_PAGED = re.compile(
    r"[?&](?:page|p|seite|pagina|offset|sort|filter|orderby)=|/page/\d", re.IGNORECASE
)
_SEARCHED = re.compile(r"[?&](?:q|s|query|search|keyword|suche|k)=[^&]", re.IGNORECASE)
_PRICE = re.compile(
    r"[$€£¥₹₩₺]\s?\d|(?:Rs\.?|CHF|EUR|USD|kr\.?)\s?\d"
    r"|\d\s?(?:€|zł|kr|Kč|₽|₸|₺|TL|Ft|lei|грн|тг|\u0440\u0443\u0431|원|円|元|EUR|USD|CHF)(?!\w)"
)
_WORD = re.compile(r"[^\W_]+")
# ASCII variant: everything else becomes a space, at a fraction of the cost.
_SPACED = "".join(sign if sign.isalnum() else " " for sign in map(chr, range(128)))
_NOT_FOUND = re.compile(r"(?<!\d)(?:404|403|410|500|502|503)(?!\d)")
_BASKET = (
    '[class*="add-to-cart" i], [class*="addtocart" i], [class*="add_to_cart" i], [id*="addtocart" i],'
    ' [id*="add-to-cart" i], [class*="buy-button" i], [class*="btn-buy" i], [class*="add-to-b" i]'
)
# Selectors that start with a tag use an index; others, and lists, walk the whole tree.
_QUANTITY = (
    'input[name*="qty" i]', 'input[name*="quantity" i]', 'select[name*="quantity" i]',
    'select[name*="qty" i]', 'input[id*="quantity" i]',
)  # fmt: skip
# Names of elements that are one of many products, and their common prefix by tag.
_CARDS = tuple(
    (f"{tag}[class*='product-']", f"{tag}[class*='product-card']", f"{tag}[class*='product-item']")
    for tag in ("div", "li", "article", "section", "a")
)


def _signs_by_word(table: dict[str, dict[str, Any]]) -> dict[str, tuple[str, float]]:
    return {
        word: (kind, row["weight"]) for kind, row in table.items() for word in phrases(row["words"])
    }


_WORDS = load("messor.content", "page_types")
_ADD_TO_CART = phrases(_WORDS["add_to_cart"])
_SEGMENTS = _signs_by_word(_WORDS["segments"])
_TITLES = _signs_by_word(_WORDS["titles"])
# Title phrases by first word, and their order.
_PLACES = {phrase: place for place, phrase in enumerate(_TITLES)}
_PHRASES = {
    word: [phrase for phrase in _TITLES if phrase.split()[0] == word]
    for word in {phrase.split()[0] for phrase in _TITLES}
}
_ASKING = frozenset(("h2", "h3", "h4", "h5", "dt", "summary", "button"))
_PARAGRAPHS = ("p", "div")
_SLUG = 3  # hyphens in a URL slug that is a sentence
_ENTRIES = 5  # articles on one page that make it a listing
_DECIDED = 4.0  # a weight that shop signs could not change
_LONG = 80  # minimum characters of a paragraph
_SHORT = 60  # maximum characters of a price line
_ASKED = 200  # maximum characters of a question


class Signs:
    """Weights and reasons by type."""

    __slots__ = ("reasons", "weights")

    def __init__(self) -> None:
        self.weights: dict[str, float] = defaultdict(float)
        self.reasons: dict[str, list[str]] = defaultdict(list)

    def add(self, name: str, weight: float, reason: str) -> None:
        self.weights[name] += weight
        if weight > 0:
            self.reasons[name].append(reason)


def read_signs(page: PageView) -> Signs:
    """Collect all signs of a page."""
    signs = Signs()
    title = _title(page)
    _read_url(page, title, signs)
    _read_software(page, signs)
    _read_title(title, signs)
    _read_data(page, signs)
    _read_forms(page, signs)
    _read_layout(page, signs)
    return signs


def _title(page: PageView) -> str:
    element = page.document.find("title")
    return "" if element is None else one_space(element.text)[:300]


def _read_url(page: PageView, title: str, signs: Signs) -> None:
    path = page.path
    category = categorise(path, title=title)
    if category is not None and category.name in TYPE_OF_CATEGORY:
        weight = 3.5 if category.name == "home" else 2.2 * category.score
        signs.add(TYPE_OF_CATEGORY[category.name], weight, f"URL or title says {category.cue!r}")
    bare = path.partition("?")[0]
    lowered = path.lower()
    segments = [segment for segment in lowered.partition("?")[0].split("/") if segment]
    for place, segment in enumerate(segments):
        found = _SEGMENTS.get(segment.rpartition(".")[0] or segment)
        if found is not None:
            last = place == len(segments) - 1
            name, weight = found
            if name == "product" and last:
                name = "listing"
            if name == "article" and last:
                name, weight = "listing", weight * 0.6
            signs.add(name, weight, f"the URL's part {segment!r}")
    if ("/19" in bare or "/20" in bare) and _DATED.search(bare):
        signs.add("article", 1.5, "a date in the URL")
    if "=" in path or "/page/" in lowered:
        _read_query(path, signs)
    if bare.removesuffix("/").rpartition("/")[2].count("-") >= _SLUG:
        signs.add("article", 0.4, "a long name in the URL")
        signs.add("product", 0.3, "a long name in the URL")


def _read_software(page: PageView, signs: Signs) -> None:
    """Forums and documentation are told by their address and by the software that makes them."""
    if is_thread_url(page.url):
        signs.add("forum", 3.5, "the URL of a thread")
    elif _REFERENCE_HOST.match(page.url):
        signs.add("documentation", 2.0, "a host for documentation")
    made_by = page.meta_text("generator").lower()
    for software, sign in _GENERATORS.items() if made_by else ():
        if software in made_by:
            signs.add(*sign, f"made with {software}")


def _read_query(path: str, signs: Signs) -> None:
    if _PAGED.search(path):
        signs.add("listing", 1.2, "the URL of a page in a row")
    if _SEARCHED.search(path):
        signs.add("search", 1.5, "a search in the URL")


def _words(title: str) -> list[str]:
    if title.isascii():
        return title.translate(_SPACED).lower().split()
    return _WORD.findall(fold(title))


def _read_title(title: str, signs: Signs) -> None:
    said = _words(title)
    if begun := [phrase for word in _PHRASES.keys() & said for phrase in _PHRASES[word]]:
        words = " ".join(said)
        padded = f" {words} "
        for phrase in sorted(begun, key=_PLACES.__getitem__):
            if f" {phrase} " in padded:
                name, weight = _TITLES[phrase]
                share = min(1.0, 0.4 + 3.0 * len(phrase) / max(1, len(words)))
                signs.add(name, weight * share, f"the title says {phrase!r}")
    if "0" in title and len(title) < 60 and _NOT_FOUND.search(title):
        signs.add("error", 2.0, "the title has an error's number")


def _read_data(page: PageView, signs: Signs) -> None:
    types = page.types
    for kind in sorted(types & _ITEMS.keys()):
        signs.add(*_ITEMS[kind], f"structured data: {kind}")
    goods = [] if types.isdisjoint(_PRODUCTS) else page.items_of(_PRODUCTS)
    products = len([item for item in goods if item.text("name")])
    priced = [item for item in goods if item.items("offers")]
    if products and (len(priced) == 1 or products == 1):
        signs.add("product", 3.0 if priced else 2.0, "structured data: one product")
    elif products > 3:
        signs.add("listing", 1.0, "structured data: several products")
        signs.add("product", 0.8, "structured data: several products")
    elif products:
        signs.add("product", 2.0, "structured data: products")
    if not types.isdisjoint(_EVENTS):
        events = len(page.items_of(_EVENTS))
        signs.add("event" if events < 3 else "listing", 2.0, "structured data: events")
    said = _OPENGRAPH.get(page.meta_text("og:type").lower())
    if said is not None:
        signs.add(*said, f"og:type says {said[0]}")
    names = page.metas.keys()
    if not _TIMES.isdisjoint(names) and page.has_meta(*_TIMES):
        signs.add("article", 0.8, "a time of publication")
    if not _OFFERS.isdisjoint(names) and page.has_meta(*_OFFERS):
        signs.add("product", 2.0, "a price in the head")


def _read_forms(page: PageView, signs: Signs) -> None:
    document = page.document
    passwords = len(document.select('input[type="password" i]'))
    if passwords and len(page.visible_lines.texts) < 80:
        signs.add("login", 2.5, "a password field on a short page")
    elif passwords:
        signs.add("login", 0.4, "a password field")
    if document.select_one("form textarea") and document.select_one('form input[type="email" i]'):
        signs.add("contact", 0.8, "a form for messages")


def _read_shop(page: PageView, signs: Signs) -> None:
    """Look for ways to buy, only where they could decide."""
    button = _buying(page)
    if button:
        signs.add("product", 1.2, f"a button says {button!r}")
    if page.document.select_one(_BASKET) is not None:
        signs.add("product", 0.7, "a way into the cart")
    if any(page.document.select_one(field) is not None for field in _QUANTITY):
        signs.add("product", 0.7, "a field for a quantity")
    if page.document.select_one('[itemprop="price"]') is not None:
        signs.add("product", 0.5, "a price is marked")


def _buying(page: PageView) -> str:
    """Return the label of an add-to-cart button; empty if there is none."""
    for element in page.document.select('input[type="submit"], input[type="button"]')[:200]:
        words = one_space(fold(element.attr("value") or ""))
        if any(cue in words for cue in _ADD_TO_CART):
            return words[:40]
    for cue in _ADD_TO_CART:
        at = page.folded.find(cue)
        if at >= 0:
            begin = page.folded.rfind("\n", 0, at) + 1
            words = page.folded[begin : begin + 200].partition("\n")[0]
            if len(words) <= 40:
                return words
    return ""


def _long(body: BodyLines) -> list[int]:
    """Return the lengths of the paragraphs."""
    return [
        size
        for size, first in zip(body.sizes, body.firsts, strict=True)
        if size >= _LONG and holder_of(first).tag in _PARAGRAPHS
    ]


def _questions(body: BodyLines) -> int:
    """Count heading-like lines that end like a question."""
    said = "".join(body.texts)  # checking all at once is fastest
    if not any(map(said.__contains__, QUESTION_MARKS)):
        return 0
    return sum(
        text.endswith(QUESTION_MARKS) and len(text) < _ASKED and holder_of(first).tag in _ASKING
        for text, first in zip(body.texts, body.firsts, strict=True)
    )


def _prices(short: list[str], memory: Memory) -> int:
    """Count the lines with a price."""
    priced = memory.texts(_priced).lookup(set(short))
    return sum(map(priced.__contains__, short)) if priced else 0


def _priced(texts: Collection[str]) -> dict[str, bool]:
    """Return the texts with a price."""
    listed = list(texts)
    return {
        text: True
        for text, marks in zip(listed, read_marks(listed), strict=True)
        if "0" in marks and _PRICE.search(text)
    }


def _read_layout(page: PageView, signs: Signs) -> None:
    body = page.body
    long = _long(body)
    prices = _prices([text for text in body.texts if len(text) < _SHORT], page.memory)
    questions = _questions(body)
    _read_paragraphs(page, sum(body.sizes), long, signs)
    if questions >= 4 and any(mark in page.folded for mark in QUESTION_MARKS):
        signs.add("faq", min(2.0, 0.3 * questions), f"{questions} headings are questions")
    if prices >= 8 and len(long) < 6:
        signs.add("listing", min(1.4, 0.08 * prices), f"{prices} prices")
        signs.add("menu", 0.3, f"{prices} prices")
        signs.add("pricing", 0.3, f"{prices} prices")
    elif prices:
        signs.add("product", 0.4, f"{prices} prices")
    decided = signs.weights["product"] >= _DECIDED or signs.weights["article"] >= _DECIDED
    if not decided and (prices or len(long) < 6 or signs.weights["product"] >= 1):
        _read_shop(page, signs)


def _read_paragraphs(page: PageView, size: int, long: list[int], signs: Signs) -> None:
    """Running text indicates an article, many entries with little text a listing."""
    articles = len(page.document.select("article"))
    cards = _cards(page)
    many = articles >= _ENTRIES or cards >= 2 * _ENTRIES
    share = sum(long) / max(1, size)
    if len(long) >= 4:
        weight = min(1.6, 0.25 * len(long)) * min(1.0, 0.25 + 1.25 * share)
        if many and len(long) < 3 * articles:
            weight /= 2
        signs.add("article", weight, f"{len(long)} long paragraphs, {share:.0%} of the text")
    if many:
        signs.add("listing", 0.8, f"{max(articles, cards)} entries")
    if len(page.document.select("pre")) >= _CODE:
        signs.add("documentation", 1.2, "several preformatted texts")
    if articles == 1:
        signs.add("article", 0.5, "one article element")
    if page.document.select_one("time[datetime]") is not None or marked(page, BYLINES):
        signs.add("article", 0.4, "a byline or time")


def _cards(page: PageView) -> int:
    """Count the elements named as one of many products."""
    document = page.document
    found = 0
    for any_product, card, item in _CARDS:
        if document.select_one(any_product) is not None:
            found += len(document.select(card)) + len(document.select(item))
    return found
