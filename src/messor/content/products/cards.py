"""Cards: the repeated boxes of a page that each show another product, with a name and a price.

A card is one of several children of an element (list items, boxes of a grid, rows of a table) that
each hold a price of their own and a name. Cards in several rows, such as a grid of three columns,
are recognised by their class. `listed` makes records of them; prices in cards are never the page's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from turbohtml import Element, Node, Text

from messor.content.amounts import MONEY
from messor.content.plain import one_space
from messor.content.products.headings import words_of
from messor.content.products.texts import Texts

MAX_PRICES = 600
MAX_CARDS = 300
MIN_CARDS = 2
_MAX_HEIGHT = 40  # ancestors of a price searched for its card
_MAX_TEXT = 60
_MAX_NAME = 300
_MAX_LINKS = 40  # of a card
_MAX_WRITTEN = 600  # characters of a price with white space
_MAX_CARD = 1_500  # characters of its text
_MAX_SOURCE = 20_000  # the same with white space

_SAME = 0.7  # share of words of two names of one product
_HEADINGS = "h1,h2,h3,h4,h5,h6"
_OUTER = frozenset(("html", "body", "main", "select"))
_ASIDE = frozenset(("nav", "header", "footer"))  # no lists of products, but menus
_NAMED = re.compile(
    r"(?:^|[\s_-])(?:name|title|product-?link|heading)|[a-z](?:Name|Title)\b|title\b|name\b"
)
_NOT_NAME = re.compile(
    r"price|brand|badge|label|button|btn|rating|review|vendor|subtitle|sub-title", re.IGNORECASE
)
_PRODUCT = re.compile(r"product|item|card|tile|artikel|produkt|produit|prodotto", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]")
# Salaries, rents, subscriptions and sums in the news are not prices of products.
_PERIOD = re.compile(
    r"\b(?:per|a|an|pro|par|por|/)\s?(?:year|annum|month|mo|hour|week|night|jahr|monat|stunde|nacht|mois|nuit|mes)\b"
    r"|/\s?(?:yr|year|mo|month|hr|hour|h|night|week|nacht|monat|mois)\b|\bp\.a\.|[\d.,]{2,}[.,]000\s?[-\u2013]|\bor more\b|\b(?:million|billion|bn|mln|mio)\b",
    re.IGNORECASE,
)
_MAX_SIGN = 4  # letters of a currency
# Words of a filter, a saving or free shipping.
THRESHOLD = re.compile(
    r"\b(?:under|over|above|below|up to|orders?|shipping|versand|saved?|savings?|off|gift card|coupon|reviews?)\b",
    re.IGNORECASE,
)
_MAX_OTHER = 24  # letters beside the amount in a text that is a price
_ACTS = re.compile(
    r"(?i)\s*(?:add(?:ed)? to|buy|shop|quick|view|more|details?|compare|sale|sold out|new|wish|learn|see|select|choose|"
    r"save|in den|kaufen|mehr|ajouter|acheter|voir|añadir|comprar|acquista|bekijk|options|customi[sz]e|"
    r"best ?seller|pre-?order|prepurchase|free|only|from|sponsored|price|(?:regular|sale|list|current|our) price|\d+ (?:reviews?|ratings?|colou?rs?|options?|formats?|sizes?))\b"
)


_NEVER = re.compile(
    r"(?i)(?:item|model|part|art\w*)\W{0,2}(?:no|nr|number|id)\b|sku\b|[\d.,]+ out of|price valid"
)


class Card(NamedTuple):
    """A card: its element, its prices in page order, what names it, and its link."""

    element: Element
    prices: list[Element]
    name: tuple[Element, str]  # an element, and the attribute that names the product or ""
    link: Element | None


def find_cards(texts: Texts, named: Iterable[Element], heading: Element | None) -> list[Card]:
    """Return the product cards of a page in page order; none if it has fewer than two.

    `named` are the elements named as prices. A box that holds the page's heading is the page itself.
    """
    shown = _named_prices(named)
    found = _cards_around(shown, heading)
    if found:
        return found
    more = dict.fromkeys([*shown, *_unnamed_prices(texts)])
    return _cards_around(list(more), heading) if len(more) > len(shown) else []


def _cards_around(prices: list[Element], heading: Element | None) -> list[Card]:
    if len(prices) < MIN_CARDS:
        return []
    way = frozenset(() if heading is None else (heading, *heading.ancestors))
    held: dict[Element, list[Element]] = {}  # prices by the elements that hold them
    children: dict[Element, dict[Element, None]] = {}  # that hold prices
    for price in prices:
        for child, parent in _steps(price):
            held.setdefault(child, []).append(price)
            children.setdefault(parent, {})[child] = None
    boxes = _boxes(children, held, way)
    labels = _labels(boxes)
    title = words_of("" if heading is None else heading.text)
    cards = [card for box in boxes if (card := _card(box, held[box], labels)) is not None]
    return _distinct([card for card in cards if not _is_named(card, title)])[:MAX_CARDS]


def _is_named(card: Card, title: frozenset[str]) -> bool:
    """Whether a card shows what the page's heading names: the page's own product."""
    name = words_of(text_of(card.name))
    return len(name & title) >= _SAME * len(name | title) > 0


def _labels(boxes: list[Element]) -> frozenset[str]:
    """Return texts in the place of a name that recur: they are labels."""
    names = Counter(text_of(name) for box in boxes if (name := name_of(box)) is not None)
    return frozenset(name for name, times in names.items() if times > max(2, len(boxes) // 4))


def text_of(name: tuple[Element, str]) -> str:
    """Return the text of a name."""
    element, attribute = name
    return one_space((element.attr(attribute) or "") if attribute else element.text)


def _named_prices(named: Iterable[Element]) -> list[Element]:
    """Return the elements named as prices that show one price or few."""
    found: list[Element] = []
    for element in islice(named, MAX_PRICES):
        text = element.text
        if len(text) > _MAX_WRITTEN or _is_aside(element):
            continue
        if is_price(one_space(text), named=True):
            found.append(element)
    return found


def _unnamed_prices(texts: Texts) -> list[Element]:
    """Return the elements that hold a price and little else, whatever their name."""
    found: dict[Element, None] = {}
    for text in texts.money()[:MAX_PRICES]:
        parent = text.parent
        if type(parent) is not Element or parent in found or _is_aside(parent):
            continue
        if is_price(one_space(parent.text[:_MAX_WRITTEN])):
            found[parent] = None
    return list(found)


def is_price(text: str, *, named: bool = False) -> bool:
    """Whether a short text is a price and little else; an element named so needs only digits."""
    if not text or len(text) > (3 * _MAX_TEXT if named else _MAX_TEXT) or _PERIOD.search(text):
        return False
    left = MONEY.sub("", text)
    if len(_LETTERS.findall(left)) > (3 * _MAX_OTHER if named else _MAX_OTHER):
        return False
    if left == text:
        return named and len(_LETTERS.findall(text)) <= _MAX_SIGN and any(map(str.isdigit, text))
    return THRESHOLD.search(left) is None


def _is_aside(price: Element) -> bool:
    return any(type(node) is Element and node.tag in _ASIDE for node in price.ancestors)


def _steps(price: Element) -> Iterator[tuple[Element, Element]]:
    """Yield an element and its parent, upwards from a price."""
    child = price
    for _ in range(_MAX_HEIGHT):
        parent = child.parent
        if type(parent) is not Element or child.tag in _OUTER:
            return
        yield child, parent
        child = parent


def _boxes(
    children: dict[Element, dict[Element, None]],
    held: dict[Element, list[Element]],
    way: frozenset[Node],
) -> list[Element]:
    """Return the elements that may be cards: repeated, with a name, and the innermost of these."""
    found: dict[Element, None] = {}
    lists = [each for each in children.items() if len(each[1]) >= MIN_CARDS]
    # The innermost lists first: a row of cards is not a card.
    for _, kids in sorted(lists, key=lambda each: -_depth(each[0])):
        free = [kid for kid in kids if kid not in way and not _holds_one(kid, found)]
        alike = Counter(shape_of(kid) for kid in free)
        for kid in free:
            if alike[shape_of(kid)] >= MIN_CARDS and _may_be_card(kid):
                found[kid] = None
    shapes = Counter(shape_of(box) for box in found if box.attr("class"))
    often = {shape for shape, times in shapes.items() if times >= MIN_CARDS}
    for box in held:  # the last row of a grid may hold one card alone
        is_alike = box not in found and shape_of(box) in often and box not in way
        if is_alike and not (_holds_one(box, found) or _is_inside(box, found)):
            found.update({box: None} if _may_be_card(box) else {})
    return [box for box in held if box in found]


def _depth(element: Element) -> int:
    return sum(1 for _ in element.ancestors)


def _holds_one(element: Element, found: dict[Element, None]) -> bool:
    return any(element in box.ancestors for box in found)


def _is_inside(element: Element, found: dict[Element, None]) -> bool:
    return any(node in found for node in element.ancestors)


def shape_of(element: Element) -> tuple[str, str]:
    """Return an element's tag and first class, by which cards of one list are alike."""
    return element.tag, ((element.attr("class") or "").split() or [""])[0]


def _may_be_card(element: Element) -> bool:
    text = element.text
    if len(text) > _MAX_SOURCE or len(one_space(text)) > _MAX_CARD:
        return False
    return name_of(element) is not None


def _card(box: Element, prices: list[Element], labels: frozenset[str]) -> Card | None:
    name = name_of(box, labels)
    if name is None:
        return None
    link = _link(box, name[0])
    if link is None and not _is_shown_as_product(box):
        return None
    return Card(box, prices, name, link)


def _is_shown_as_product(box: Element) -> bool:
    """Whether a card without a link is a product's: options and plans have prices too."""
    return box.find("img") is not None or _PRODUCT.search(box.attr("class") or "") is not None


def name_of(box: Element, labels: frozenset[str] = frozenset()) -> tuple[Element, str] | None:
    """Return the element that names a card's product, with the attribute that does so or ""."""

    def is_name(text: str) -> bool:
        return may_name(text) and one_space(text) not in labels

    for heading in box.select(_HEADINGS)[:5]:
        if is_name(heading.text):
            return heading, ""
    for element in box.select("[class],[itemprop=name]")[:_MAX_LINKS]:
        names = element.attr("class") or ""
        is_named = element.attr("itemprop") == "name" or _NAMED.search(names)
        if is_named and not _NOT_NAME.search(names) and is_name(element.text):
            return element, ""
    links = [box] if box.tag == "a" else box.select("a[href]")[:_MAX_LINKS]
    texts = [link for link in links if link is not box and is_name(link.text)]
    if texts:
        return max(texts, key=lambda link: len(one_space(link.text))), ""
    for image in box.select("img[alt]")[:5]:
        if is_name(image.attr("alt") or ""):
            return image, "alt"
    first = _first_text(box)
    return (first, "") if first is not None and is_name(first.text) else None


def _first_text(box: Element) -> Element | None:
    """Return the element with a card's first text: a cell, a bold word."""
    for node in box.descendants:
        if type(node) is Text and not node.data.isspace():
            holder = node.parent
            return holder if type(holder) is Element and holder is not box else None
    return None


def may_name(text: str) -> bool:
    """Whether a text can name a product: neither a price nor a button's label."""
    plain = one_space(text[: 2 * _MAX_NAME])
    if plain.endswith(":") or _NEVER.match(plain):
        return False
    if not 2 < len(plain) <= _MAX_NAME or not _LETTERS.search(plain) or _ACTS.match(plain):
        return len(plain) > 25 and len(plain) <= _MAX_NAME and not MONEY.search(plain)
    return not is_price(plain) and len(MONEY.findall(plain)) == 0


def _link(box: Element, name: Element) -> Element | None:
    """Return the link to a card's product: around or in its name, else the first in the card."""
    around = [each for each in (name, *name.ancestors, box) if type(each) is Element]
    for element in around:
        if element.tag == "a" and is_link(element):
            return element
        if element is box:
            break
    for place in (name, box):
        for link in place.select("a[href]")[:_MAX_LINKS]:
            if is_link(link):
                return link
    outside = box.closest("a[href]")
    return outside if outside is not None and is_link(outside) else None


def is_link(element: Element) -> bool:
    """Whether an element leads to another page."""
    href = (element.attr("href") or "").strip()
    return bool(href) and not href.lower().startswith(
        ("#", "javascript:", "mailto:", "tel:", "data:")
    )


def _distinct(cards: list[Card]) -> list[Card]:
    """Return one card per link or name, of those that still recur: options have the same link."""
    unique: dict[tuple[str, str], Card] = {}
    for card in cards:
        href = "" if card.link is None else (card.link.attr("href") or "").partition("#")[0]
        unique.setdefault((href, "" if href else one_space(card.element.text)), card)
    shapes = Counter(shape_of(card.element) for card in unique.values())
    return [card for card in unique.values() if shapes[shape_of(card.element)] >= MIN_CARDS]
