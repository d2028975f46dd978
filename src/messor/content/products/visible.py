"""Visible product data: prices around the heading, labels, buttons and stock notes."""

# ruff: noqa: RUF001 - homoglyphs of Latin letters are intended

from __future__ import annotations

import re
from collections import Counter

from turbohtml import Element

from messor.content.money import parse_price
from messor.content.plain import one_space
from messor.content.products.cards import THRESHOLD
from messor.content.products.line_types import AROUND_LABEL, RATING, REVIEW_COUNT, SPLIT
from messor.content.products.normalise import availability
from messor.content.products.pool import MAX_CANDIDATES, CandidatePool
from messor.content.products.survey import Survey, is_elsewhere, is_off_stage, kin_of, path_of
from messor.content.products.texts import Line
from messor.content.products.words import ANY_LABEL, LABELS, OLD_BEGINNING, OLD_LABELS, mentions

MAX_PRICE_TEXT = 80
MAX_BUTTONS = 200
_DISABLED = 0.35  # confidence of a button that waits for a choice, or for stock
_IN_STATE = 2  # stock notes that embedded state may add
_LOOK_UP = 9
_SHORTLY_BEFORE = 10
_BEHIND = 40  # lines from the heading on that may hold ratings
_FAR = 12  # ancestors beyond which all are equally far
_NEARBY = 100_000

_EXACT_STOCK = frozenset(("availability", "outofstock", "stock", "stock-status", "stockstatus"))
_BOLD = frozenset(("b", "strong", "big", "h2", "h3", "h4"))
_STRUCK = frozenset(("del", "s", "strike"))
_DIGIT = re.compile(r"\d")
MAX_TRAIL = 8_000
_WITH_CENTS = re.compile(r"\d[.,]\d\d(?!\d)")
_PLAIN_NUMBER = re.compile(r"\d[\d.,'’ ]{0,14}(?:,-|\.-)?")
_SHARED_SIGNS = ("kr", "rs")
_REVIEWED = {RATING: ("rating", 0.6), REVIEW_COUNT: ("review_count", 0.55)}
_BUTTON_TYPES = frozenset(("submit", "button", "image"))


def read_prices(pool: CandidatePool, found: Survey) -> None:
    """Read prices in elements named so, scored by distance to the heading."""
    prices = found.own(found.parts.prices)
    shapes = Counter((element.tag, element.attr("class")) for element in prices)
    for element in prices:
        text = element.text
        if len(text) > 600 or not _DIGIT.search(text):
            continue
        if len(one_space(text)) > MAX_PRICE_TEXT or _is_threshold(text):
            continue
        score = _price_score(found, element, shapes[(element.tag, element.attr("class"))])
        # For example an old and a new price; their own elements tell which is which.
        score -= 0.2 * max(0, len(_WITH_CENTS.findall(text)) - 1)
        if OLD_BEGINNING.match(one_space(text).lower()):
            score -= 0.2
        if score > 0.05:
            quote = found.page.inner(element)
            pool.add(
                "price", "text", quote, score, path=path_of(element), normaliser="shown_amount"
            )


def _is_threshold(text: str) -> bool:
    """Whether the first amount is one of a filter or of free shipping: "Under $50"."""
    match = THRESHOLD.search(text)
    digit = _DIGIT.search(text)
    return match is not None and digit is not None and match.start() < digit.start()


def _price_score(found: Survey, element: Element, repeated: int) -> float:
    kin = kin_of(element, _FAR)
    score = 0.45
    is_behind = False  # after a heading of other products
    if found.at >= 0:
        start = found.page.start(element)
        ahead = start - found.at
        is_behind = found.others_at is not None and start > found.others_at
        shared = next((n for n, node in enumerate(kin) if node in found.way), _FAR)
        score += 0.2 - 0.02 * shared
        score += 0.1 if 0 < ahead < 30_000 else -0.05
    if any(node.tag in _STRUCK for node in kin[:5]):
        score -= 0.4
    if any(found.verdict(node)[1] for node in kin[:3]):
        score -= 0.2
    if is_behind:
        score -= 0.45
    elif is_elsewhere(found, kin[:_LOOK_UP]):
        score -= 0.3
    if any(node.tag == "a" for node in kin[:6]):
        score -= 0.2
    return score - (0.15 if repeated > 5 else 0.0)


def read_price_lines(pool: CandidatePool, found: Survey) -> None:
    """Read prices in the lines around the heading, whatever their element."""
    _read_price_lines(pool, found, found.window, 0.34)
    _read_price_lines(pool, found, found.before[-_SHORTLY_BEFORE:], 0.31)


def read_stock_lines(pool: CandidatePool, found: Survey, *, whole: bool) -> None:
    """Read stock notes in the lines after the heading, whatever their element.

    Unless `whole`, repeated notes are skipped: confidence decreases with position, so none of them
    is ever chosen.
    """
    is_whole = whole or _may_be_too_many(pool, found)
    for number, text in found.notes if is_whole else found.first_notes:
        if _is_there(found, text):
            pool.add("availability", "line", text, 0.45 - 0.002 * number)


def _may_be_too_many(pool: CandidatePool, found: Survey) -> bool:
    """Whether there may be more stock notes than the limit, so that repeated ones count."""
    parts = found.parts
    noted = found.times_noted + len(parts.stocks) + len(parts.buttons) + _IN_STATE
    return len(pool.found.get("availability", ())) + noted > MAX_CANDIDATES


def _read_price_lines(
    pool: CandidatePool, found: Survey, lines: list[Line], confidence: float
) -> None:
    texts = ["", *(text for text, _ in lines), ""]
    for number, (text, node) in enumerate(lines, 1):
        if len(text) > 60 or not _DIGIT.search(text):
            continue
        parent = node.parent
        if not isinstance(parent, Element):
            continue
        if not _is_price_line(texts[number - 1], text, texts[number + 1]):
            continue
        if _is_there(found, text) and not is_off_stage(found, parent, _LOOK_UP):
            sureness = confidence + (0.05 if _is_bold(parent) else 0.0) - 0.002 * number
            pool.add("price", "line", text, sureness, normaliser="amount")


def _is_bold(element: Element) -> bool:
    return element.tag in _BOLD or "bold" in (element.attr("style") or "")


def _is_price_line(before: str, text: str, after: str) -> bool:
    """Whether a line with a number is a price: by a sign in it or directly next to it."""
    if not _is_money(text) and not (
        _PLAIN_NUMBER.fullmatch(text) and (_is_sign(after[:8]) or _is_sign(before[-8:]))
    ):
        return False
    if OLD_BEGINNING.match(text.lower()) or THRESHOLD.search(text):
        return False
    low = before.lower()
    # A sign next to a price of its own does not apply to the next one.
    return len(low) >= 40 or not mentions(low, OLD_LABELS) or _is_money(before)


def _is_money(text: str) -> bool:
    """Whether a text has an unambiguous currency sign: "5 L" may be litres."""
    price = parse_price(text)
    if price.sign is None:
        return False
    letters = price.sign.replace(".", "")
    if not letters.isascii() or not letters.isalpha():
        return True
    return (len(letters) > 1 and price.code is not None) or letters.lower() in _SHARED_SIGNS


def _is_sign(text: str) -> bool:
    """Whether a text next to a number is its sign; one with digits has its own number."""
    return not _DIGIT.search(text) and _is_money(f"1 {text}")


def _is_there(found: Survey, text: str) -> bool:
    """Whether a line near the heading occurs literally in the source; most follow the heading."""
    start = max(0, found.at - _NEARBY)
    end, heading = start + 4 * _NEARBY, max(0, found.at)
    html = found.page.html
    behind = html.find(text, heading, end) >= 0
    return behind or html.find(text, start, min(end, heading + len(text))) >= 0


_LABELS = (
    ("sku", LABELS["strong_sku"], 0.93), ("sku", LABELS["sku"], 0.62),
    ("brand", LABELS["brand"], 0.6), ("gtin", LABELS["gtin"], 0.75), ("mpn", LABELS["mpn"], 0.6),
)  # fmt: skip


def read_labels(pool: CandidatePool, found: Survey) -> None:
    """Read values after labels such as "SKU:", in the same text or the next."""
    texts = found.texts
    named = {line: what for line, what in found.labelled.items() if what in ANY_LABEL}
    for place, label in _places(texts.all, named) if named else ():
        if not texts.is_seen(place):
            continue
        parts = SPLIT.split(texts.all[place].strip(), maxsplit=1)
        value = parts[1].strip() if len(parts) > 1 else ""
        value = value or texts.following(place).strip(AROUND_LABEL)
        if value and len(value) <= 80 and value in found.page.html:
            _add_labelled(pool, label, value, 1.0 if len(parts) > 1 else 0.8)


def _places(texts: list[str], named: dict[str, str]) -> list[tuple[int, str]]:
    """Return the positions of texts with a label, and the label."""
    return [(at, named[line]) for at, text in enumerate(texts) if (line := text.strip()) in named]


def _add_labelled(pool: CandidatePool, label: str, value: str, share: float) -> None:
    for name, phrases, confidence in _LABELS:
        if label in phrases:
            doubt = 0.6 if name == "sku" and (" " in value or not _DIGIT.search(value)) else 1.0
            pool.add(name, "text", value, confidence * share * doubt, path=f"label {label}")


def read_heading(pool: CandidatePool, found: Survey) -> None:
    """Read the heading as the product's name, and the breadcrumb as its category."""
    if found.heading is not None:
        pool.add("product_name", "text", found.page.inner(found.heading), 0.7, path="heading")
    for element in found.parts.trails[:3]:
        quote = found.page.inner(element)
        if len(quote) <= MAX_TRAIL:
            pool.add("category", "text", quote, 0.5, path=path_of(element), normaliser="trail")


def read_brands(pool: CandidatePool, found: Survey) -> None:
    """Read brands in elements named so, close to the heading."""
    for element in found.own(found.parts.brands[:50]):
        text = one_space(element.text[:200])
        if not 1 < len(text) <= 40 or is_off_stage(found, element, _LOOK_UP):
            continue
        near = next((n for n, node in enumerate(kin_of(element, 6)) if node in found.way), None)
        if near is not None:
            quote = found.page.inner(element)
            pool.add("brand", "text", quote, 0.55 - 0.03 * near, path=path_of(element))


def read_reviews(pool: CandidatePool, found: Survey) -> None:
    """Read ratings and review counts in the lines around the heading."""
    reviews = {line: _REVIEWED[what] for line, what in found.labelled.items() if what in _REVIEWED}
    for text, _ in (*found.before, *found.after(_BEHIND)) if reviews else ():
        if text in reviews and _is_there(found, text):
            name, confidence = reviews[text]
            pool.add(name, "line", text, confidence)


def read_stock(pool: CandidatePool, found: Survey) -> None:
    """Read stock notes and the add-to-cart button."""
    for element in found.own(found.parts.stocks[:100]):
        text = element.text
        if len(text) > 600 or not 2 <= len(one_space(text)) <= 120:
            continue
        if is_off_stage(found, element, _LOOK_UP):
            continue
        exact = (element.attr("id") or "").lower() in _EXACT_STOCK
        quote, confidence = found.page.inner(element), 0.75 if exact else 0.6
        pool.add("availability", "text", quote, confidence, path=path_of(element))
    _read_buttons(pool, found)


def _forget_line(pool: CandidatePool, label: str) -> None:
    """Drop the line equal to a button's label; a disabled button counts once."""
    pool.found["availability"] = [
        made
        for made in pool.found["availability"]
        if made.evidence.source != "line" or one_space(made.evidence.quote) != label
    ]


def _is_noted_out(pool: CandidatePool) -> bool:
    return any(made.value == "out_of_stock" for made in pool.found["availability"])


def _read_buttons(pool: CandidatePool, found: Survey) -> None:
    states = found.page.memory.memo(availability)
    for element in found.own(found.parts.buttons[:MAX_BUTTONS]):
        by_value = element.tag == "input"
        if by_value and (element.attr("type") or "").lower() not in _BUTTON_TYPES:
            continue
        label = (element.attr("value") or "") if by_value else element.text
        state = states[label] if len(label) <= 300 else None
        if state is None:
            continue
        if is_off_stage(found, element, _LOOK_UP):
            continue
        sureness = 0.5 if state == "in_stock" else 0.45
        if element.attr("disabled") is not None:
            _forget_line(pool, one_space(label))
            if _is_noted_out(pool):
                continue
            sureness = _DISABLED
        quote = found.page.attribute(element, "value") if by_value else found.page.inner(element)
        pool.add("availability", "button", quote, sureness, path=path_of(element))
