"""Article numbers in the page's URL, in dedicated attributes, and in elements named so.

A number in the URL is used only if the page itself contains it, which is also its evidence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

from messor.content.plain import one_space
from messor.content.products.pool import CandidatePool
from messor.content.products.survey import Survey

_MAX_LOOKS = 40


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PARTS = re.compile(r"[-_.~,+]")
_DIGITS = re.compile(r"\d")
_USUAL = re.compile(r"https?://[a-z0-9.:-]+(?:[/?#][!-~]*)?")
_TWO_DIGITS = re.compile(r"\d.*?\d", re.DOTALL)
_ENDING = re.compile(r"\.[A-Za-z]{2,5}$")
_KEYS = _words(
    "pid sku skuid productid product_id prodid prod id item itemid item_id article artikel "
    "artikelnummer code variant variantid products_id iid asin ean goods_id goodsid"
)
_NAMED = re.compile(
    r"(?:id|sku|asin|code|item|product|prod|article|artikel|adno|goods|pid|no|nr|ref|number)[\w-]{0,12}[\"']?\s*[:=]\s*[\\\"'\[{]{0,3}\s*$",
    re.IGNORECASE,
)
_INPUTS = _words(
    "sku productsku product_sku asin productid product_id product-id productcode product_code "
    "itemid item_id pid adno articlenumber artnr add-to-cart id_product products_id goods_id"
)
_LAST_WORD = re.compile(r"(?:^|[:#\s])((?=[\w./-]*\d)[\w][\w./-]{2,40})\s*$")


def is_number(text: str) -> bool:
    """Whether a part of a URL is an article number: five digits, or letters mixed with digits."""
    if len(text) < 5 or text.isalpha():  # true of most parts
        return False
    digits = len(_DIGITS.findall(text))
    return text.isalnum() and (digits >= 5 or (digits >= 2 and 6 <= len(text) <= 24))


def address_numbers(url: str) -> Mapping[str, float]:
    """Return the numbers in a URL that may identify its product, and their likelihood."""
    path, query = _path_and_query(url)
    found: dict[str, float] = {}
    for key, value in parse_qsl(query)[:50] if query else ():
        if key.lower() in _KEYS and is_number(_PARTS.sub("", value)):
            found[value] = 0.66
    segments = [segment for segment in unquote(path).split("/") if segment]
    for depth, segment in enumerate(reversed(segments[-4:])):
        if _TWO_DIGITS.search(segment):  # no article number is shorter
            _read_segment(_ENDING.sub("", segment), 0.6 - 0.05 * depth, found)
    return found


def _path_and_query(url: str) -> tuple[str, str]:
    """Return path and query of a URL, empty if it is not one."""
    if _USUAL.fullmatch(url):  # ten times as fast as parsing
        whole, _, query = url.partition("#")[0].partition("?")
        return "/".join(whole.split("/", 3)[3:]), query
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.path, parts.query


def _read_segment(stem: str, confidence: float, found: dict[str, float]) -> None:
    """Read the numbers at the end of a path segment, last first."""
    pieces = [piece for piece in _PARTS.split(stem) if piece]
    if not pieces:
        return
    if len(stem) <= 24 and _DIGITS.search(pieces[0]) and is_number(_PARTS.sub("", stem)):
        found.setdefault(stem, confidence)
    if len(pieces) > 1 and _DIGITS.search(pieces[-1]) and is_number(pieces[-2]):
        tail = stem[stem.rfind(pieces[-2], 0, stem.rfind(pieces[-1])) :]
        found.setdefault(tail, confidence)
    for place, piece in enumerate(reversed(pieces[-4:])):
        if is_number(piece):
            found.setdefault(piece, confidence - 0.02 * place)
            bare = piece.lstrip("apixAPIX")
            if bare != piece and bare.isdigit() and len(bare) > 4:
                found.setdefault(bare, confidence - 0.01)


def read_numbers(pool: CandidatePool, found: Survey) -> None:
    """Add article numbers from the URL and from attributes to the pool."""
    page = pool.page
    for token, confidence in address_numbers(page.url).items():
        if token in page.html:
            named = _is_named(page.html, token)
            pool.add(
                "sku", "address", token, confidence + (0.13 if named else -0.12), path="address"
            )
    _read_inputs(pool, found)
    _read_elements(pool, found)


def _is_named(html: str, token: str) -> bool:
    """Whether the page uses the number as an id or code."""
    at = html.find(token)
    for _ in range(_MAX_LOOKS):
        if at < 0:
            return False
        end = at + len(token)
        if not html[end : end + 1].isalnum() and _names(html[max(0, at - 40) : at]):
            return True
        at = html.find(token, end)
    return False


def _names(before: str) -> bool:
    """Whether the text before a number names it; nearly all other text ends differently."""
    bare = before.rstrip().rstrip("\\\"'[{").rstrip()
    return bare.endswith((":", "=")) and _NAMED.search(before) is not None


def _read_inputs(pool: CandidatePool, found: Survey) -> None:
    page = pool.page
    for element in found.own(found.parts.buttons):
        if element.tag == "input" and (element.attr("name") or "").lower() in _INPUTS:
            pool.add(
                "sku",
                "attribute",
                page.attribute(element, "value"),
                0.5,
                path=f"input {element.attr('name')}",
            )


def _read_elements(pool: CandidatePool, found: Survey) -> None:
    page = pool.page
    elements = found.own(found.parts.numbers[:60])
    if not elements:
        return
    texts = [one_space(element.text[:200]) for element in elements]
    counts = Counter(texts)
    for element, text in zip(elements, texts, strict=True):
        match = _LAST_WORD.search(text)
        if match is not None and len(text) <= 60 and match[1] in page.html:
            share = 1.0 if counts[text] == 1 and len(counts) < 8 else 0.8
            pool.add(
                "sku",
                "text",
                match[1],
                0.6 * share,
                path=(element.attr("class") or element.attr("id") or "")[:60],
            )
