"""Price list and menu items: names with prices, several in a row.

Structured data first. In visible text a row is a line that ends with a price, or a name with a
price in the next block of the same parent; single ones are not a list and are ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from messor.content.amounts import money_in
from messor.content.dates import fold
from messor.content.evidence import NORMALISERS, Passage
from messor.content.items import PageItem
from messor.content.kinds.build import VISIBLE, distinct, field_of, make, property_field
from messor.content.kinds.declaration import RecordKind
from messor.content.lines import SEAM, Line
from messor.content.page_type import WRITTEN, page_type
from messor.content.products import normalise as _  # noqa: F401 - registers shown_amount
from messor.content.records import Record
from messor.content.schemas.base import Amount, Currency, FieldsModel, Stated, Text
from messor.content.view import PageView

KIND = "price_item"
MAX_ITEMS = 500
_MAX_NAME = 120
_ENOUGH = 3
_MENU_ITEMS = frozenset(("MenuItem",))
_SILENT = frozenset((*WRITTEN, "product", "listing", "search", "cart", "legal", "login", "error"))
_MENUS = frozenset(("menu", "pricing", "service"))
_TRIM = " .\u2026:\u2013\u2014-|_\u00b7*"
# A price without currency at the end of a line, as on menus: "Linsensuppe 4,90".
_BARE = re.compile(r"(?<![\d.,:])\d{1,4}(?:[.,]\d{2}|,-|\.-|,\u2013)$")
# The lower end of a price range, and words before a lowest price.
_SPAN = re.compile(r"(?<![\d.,])(?:[$€£]\s?)?\d[\d.,]{0,8}\s?[€$£]?\s?[-\u2013\u2014]\s?$")
_FROM = re.compile(
    r"(?:^|\s)(?:ab|from|starting at|à partir de|dès|desde|a partire da|da|vanaf|od|från|fra|alk\.?|от|від)$",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
# Large digits followed by small ones: "19<sup>99</sup>".
_CENTS_APART = re.compile(r"\d(?:<[^<>]{0,300}>){1,3}\d\d(?!\d)")
_MAX_LINE = 200
_MAX_UNIT = 24
_REACH = 300  # lines above an item searched for its section's heading
_UNIT = re.compile(
    r"(?:/|per|pro|par|por|al|a persona|je)\s?"
    r"(?:month|mo|year|yr|week|day|night|hour|h|person|session|user|seat|piece|kg|g|l|km|m2|m²|"
    r"monat|jahr|woche|tag|nacht|stunde|std|sitzung|nutzer|stuck|personne|mois|an|nuit|heure|jour|semaine|"
    r"mes|ano|noche|hora|dia|semana|mese|anno|notte|ora|giorno|settimana|noite|maand|jaar|uur|dag|nacht|"
    r"persoon|osoba|miesiac|godzina|noc|manad|timme|natt|ar|time|mned|kk|tunti|yo|mesic|hodinu|noc|ay|"
    r"gece|saat|месяц|час|ночь|чел)(?!\w)"
)
_UNITS = {
    "mo": "month", "monat": "month", "mois": "month", "mes": "month", "mese": "month", "maand": "month",
    "miesiac": "month", "manad": "month", "mned": "month", "mesic": "month", "ay": "month", "месяц": "month",
    "kk": "month", "yr": "year", "jahr": "year", "an": "year", "ano": "year", "anno": "year",
    "jaar": "year", "ar": "year", "woche": "week", "semaine": "week", "semana": "week",
    "settimana": "week", "tag": "day", "jour": "day", "dia": "day", "giorno": "day", "dag": "day",
    "nacht": "night", "nuit": "night", "noche": "night", "notte": "night", "noite": "night",
    "noc": "night", "natt": "night", "yo": "night", "gece": "night", "ночь": "night", "h": "hour",
    "stunde": "hour", "std": "hour", "heure": "hour", "hora": "hour", "ora": "hour", "uur": "hour",
    "godzina": "hour", "timme": "hour", "time": "hour", "tunti": "hour", "hodinu": "hour", "saat": "hour",
    "час": "hour", "personne": "person", "persona": "person", "persoon": "person", "osoba": "person",
    "чел": "person", "sitzung": "session", "nutzer": "user", "stuck": "piece", "m²": "m2",
}  # fmt: skip


class PriceItemFields(FieldsModel):
    """An item of a price list or a menu."""

    name: Stated[Text]
    description: Stated[Text] | None = None
    price: Stated[Amount] | None = None
    currency: Stated[Currency] | None = None
    unit: Stated[Text] | None = None
    section: Stated[Text] | None = None


@dataclass(frozen=True, slots=True)
class _Row:
    name: tuple[Line, str]
    price: tuple[Line, str]
    description: Line | None = None


def read_unit(text: str) -> str | None:
    """Return the unit of a price: "month", "night", "person"; None if not stated."""
    match = _UNIT.search(fold(text[:200]))
    if match is None:
        return None
    word = re.split(r"[\s/]", match[0])[-1]
    return _UNITS.get(word, word)


def find(page: PageView) -> list[Record]:
    """Return the items of a page's menus and price lists."""
    found = [_stated(item) for item in page.items_of(_MENU_ITEMS)[:MAX_ITEMS]]
    stated = [record for record in found if record is not None]
    if stated:
        return distinct(stated)
    kind = page_type(page).name
    if kind in _SILENT or "Product" in page.types:
        return []
    rows = _rows(page.lines, bare=kind in _MENUS)
    if len(rows) < (_ENOUGH if kind in _MENUS else 2 * _ENOUGH):
        return []
    made = [_made(page, row) for row in rows[:MAX_ITEMS]]
    return distinct([record for record in made if record is not None])


def _stated(item: PageItem) -> Record | None:
    offer = item.item("offers")
    return make(
        KIND,
        {
            "name": property_field(item, "name"),
            "description": property_field(item, "description", normaliser="long_text"),
            "price": property_field(offer, "price", normaliser="money_amount"),
            "currency": property_field(offer, "priceCurrency", normaliser="money_currency"),
        },
        needs=("name",),
    )


def _rows(lines: list[Line], *, bare: bool) -> list[_Row]:
    found: list[_Row] = []
    waiting: list[Line] = []  # lines since the last price; they may name the next one
    for line in lines:
        price = _price(line, bare=bare) if len(line.text) <= _MAX_LINE else None
        if price is None:
            waiting = [*waiting[-3:], line] if line.region != "nav" else []
            continue
        name = _FROM.sub("", line.text[: line.text.rindex(price)].strip(_TRIM)).strip(_TRIM)
        if name and _is_name(name):
            found.append(_Row((line, name), (line, price)))
        elif not name and (row := _beside(waiting, line, price)) is not None:
            found.append(row)
        waiting = []
    return found


def _beside(waiting: list[Line], line: Line, price: str) -> _Row | None:
    """Return the row of a standalone price: its name is the first line in the same parent."""
    heading = max((place for place, each in enumerate(waiting) if each.level), default=0)
    waiting = waiting[heading:]  # lines above a heading belong to another item
    near = [each for each in waiting if each.element.parent == line.element]
    near = near or [each for each in waiting if each.element.parent == line.element.parent]
    near = near or [each for each in waiting if _belongs(each, line)]
    if not near or not _is_name(near[0].text):
        return None
    description = near[1] if len(near) > 1 and len(near[1].text) <= _MAX_LINE else None
    return _Row((near[0], near[0].text.rstrip(_TRIM)), (line, price), description)


def _price(line: Line, *, bare: bool) -> str | None:
    """Return the price or price range at the end of a line, ignoring a unit."""
    text = line.text
    if not _DIGIT.search(text):
        return None
    amounts = money_in(line)
    if not amounts:
        only = _BARE.search(text) if bare else None
        return only[0] if only else None
    begin, end = amounts[-1]
    if len(text) - end > _MAX_UNIT or text.count(text[begin:end]) > 1:
        return None
    rest = fold(text[end:]).strip(" *.)+")
    if rest and not _UNIT.search(rest):
        return None
    return text[_lower_end(line.fenced, begin) : end].strip()


def _lower_end(fenced: str, begin: int) -> int:
    """Return where a price range begins, or where the price does if it is no range.

    A number that ends a name in its own element is not part of it: "Kettle 1" and "- € 20.90".
    """
    span = _SPAN.search(fenced, 0, begin)
    if span is None:
        return begin
    seam = fenced.rfind(SEAM, 0, begin)
    is_apart = seam >= span.start()
    named = fenced[max(fenced.rfind(SEAM, 0, span.start()), 0) : span.start()]
    return begin if is_apart and any(map(str.isalpha, named)) else span.start()


def _is_name(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return letters > 2 and len(text) <= _MAX_NAME and text[-1] not in "?!" and ". " not in text


def _belongs(name: Line, price: Line) -> bool:
    """Whether name and price are in adjacent blocks."""
    parent, other = name.element.parent, price.element.parent
    return (
        parent is not None
        and other is not None
        and (parent.parent == other or other.parent == parent)
    )


def _made(page: PageView, row: _Row) -> Record | None:
    line, name = row.name
    priced, price = row.price
    description = row.description
    passage: Passage = page.passage(priced, price)
    in_parts = _CENTS_APART.search(passage.quote) is not None
    heading = _section(page, line)
    unit = read_unit(priced.text[priced.text.rindex(price) + len(price) :])
    return make(
        KIND,
        {
            "name": page.passage(line, name).field("text", VISIBLE),
            "description": field_of(
                page.passage(description) if description else None, "long_text", VISIBLE
            ),
            "price": passage.field("shown_amount" if in_parts else "money_amount", VISIBLE),
            "currency": passage.field("money_currency", VISIBLE),
            "unit": page.passage(priced).field("unit", VISIBLE) if unit else None,
            "section": field_of(page.passage(heading) if heading else None, "text", VISIBLE),
        },
        needs=("name", "price"),
    )


def _section(page: PageView, line: Line) -> Line | None:
    """Return the heading above a name; if the name is a heading, one of a higher level."""
    rank = line.level or 7
    for each in reversed(page.lines[max(0, line.number - _REACH) : line.number]):
        if 0 < each.level < rank:
            return each
    return None


NORMALISERS.add("unit", read_unit)


DECLARATION = RecordKind(
    KIND,
    PriceItemFields,
    identity=(("name", "section"), ("name",)),
    subject="name",
    find=find,
    prompt="an item of a price list or a menu",
    normalisers={"unit": "unit"},
)
