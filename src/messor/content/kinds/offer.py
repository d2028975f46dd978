"""Offers (W-5): discounts, free trials and deals that a page promises, by rule.

Product prices are read by the product parser, price lists by `price_item`.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field

from messor.content.amounts import MONEY, money_in
from messor.content.dates import fold, read_date
from messor.content.evidence import NORMALISERS, EvidencedField
from messor.content.items import PageItem
from messor.content.kinds.build import GUESSED, VISIBLE, distinct, make, property_field
from messor.content.kinds.call_to_action import read_action
from messor.content.kinds.declaration import RecordKind
from messor.content.kinds.offer_words import CODE, DEAL, FREE, PERCENT_OFF, SAVING, UNTIL
from messor.content.lines import Line
from messor.content.page_type import WRITTEN, page_type
from messor.content.records import Record
from messor.content.schemas.base import Amount, Currency, Day, FieldsModel, Link, Stated, Text
from messor.content.view import PageView

KIND = "offer"
MAX_OFFERS = 60
_MAX_LINE = 180
_LETTERS = 5
_DIGIT = re.compile(r"\d")  # an amount of money needs a digit
_OFFERS = frozenset(("Offer", "AggregateOffer"))
_PRODUCTS = frozenset(("Product", "ProductGroup", "IndividualProduct", "Car", "Book", "Vehicle"))
_SILENT = frozenset((*WRITTEN, "listing", "search", "legal", "product", "cart"))


Percent = Annotated[float, Field(ge=0, le=999)]


class OfferFields(FieldsModel):
    title: Stated[Text]
    description: Stated[Text] | None = None
    price: Stated[Amount] | None = None
    currency: Stated[Currency] | None = None
    discount_percent: Stated[Percent] | None = None
    discount_amount: Stated[Amount] | None = None
    code: Stated[Text] | None = None
    valid_until: Stated[Day] | None = None
    url: Stated[Link] | None = None


def read_code(text: str) -> str | None:
    """Return the promo code in a text."""
    match = CODE.search(text[:_MAX_LINE])
    return match[1] if match else None


def read_until(text: str) -> str | None:
    """Return the day until which an offer is valid."""
    match = UNTIL.search(fold(text[: 2 * _MAX_LINE]))
    found = read_date(match[1]) if match else None
    return found[:10] if found else None


def find(page: PageView) -> list[Record]:
    """Return the offers of a page."""
    stated = [_stated(item) for item in _free_offers(page)[:MAX_OFFERS]]
    found = [record for record in stated if record is not None]
    if page_type(page).name not in _SILENT:
        found.extend(_visible(page))
    return distinct(found)[:MAX_OFFERS]


def _free_offers(page: PageView) -> list[PageItem]:
    """Return offers that do not belong to a product."""
    if not _PRODUCTS.isdisjoint(page.types):
        return []
    return page.items_of(_OFFERS)


def _stated(item: PageItem) -> Record | None:
    thing = item.item("itemOffered")
    name = property_field(item, "name") or property_field(thing, "name")
    return make(
        KIND,
        {
            "title": name,
            "description": property_field(item, "description", normaliser="long_text"),
            "price": property_field(item, "price", "lowPrice", normaliser="money_amount"),
            "currency": property_field(item, "priceCurrency", normaliser="money_currency"),
            "valid_until": property_field(
                item, "validThrough", "priceValidUntil", normaliser="day"
            ),
            "url": property_field(item, "url", normaliser="link"),
        },
        needs=("title",),
    )


def _visible(page: PageView) -> list[Record]:
    found: list[Record] = []
    promises = page.memory.memo(_promises)
    for line in page.lines:
        if len(line.text) > _MAX_LINE or line.region in ("nav", "header"):
            continue
        if not promises[line.text]:
            continue
        if read_action(line.text) is not None:  # a button repeating the offer
            continue
        record = _of_line(page, line)
        if record is not None:
            found.append(record)
        if len(found) >= MAX_OFFERS:
            break
    return found


def _promises(text: str) -> bool:
    """Whether a line promises something."""
    folded = fold(text)
    promised = ("%" in folded and PERCENT_OFF.search(folded)) or FREE.search(folded)
    if not promised and _DIGIT.search(text):
        promised = (SAVING.search(folded) or DEAL.search(folded)) and MONEY.search(text)
    # "-50 %" on what?
    return bool(promised) and sum(map(str.isalpha, folded)) >= _LETTERS


def _of_line(page: PageView, line: Line) -> Record | None:
    passage = page.passage(line)
    folded = fold(line.text)
    reduced = PERCENT_OFF.search(folded) is not None
    amounts = money_in(line)
    sure = VISIBLE if reduced or line.level else GUESSED
    saved = bool(amounts) and SAVING.search(folded) is not None
    fields: dict[str, EvidencedField | None] = {
        "title": passage.field("text", sure),
        "discount_percent": passage.field("percent", sure) if reduced else None,
        "valid_until": passage.field("until", sure) or _later(page, line),
        "code": passage.field("offer_code", sure),
    }
    if amounts:
        begin, end = amounts[0]
        written = page.passage(line, line.text[begin:end])
        fields["discount_amount" if saved else "price"] = written.field("money_amount", sure)
        fields["currency"] = written.field("money_currency", sure)
    return make(KIND, fields, needs=("title",))


def _later(page: PageView, line: Line) -> EvidencedField | None:
    """Return the end of an offer if one of the next lines states it."""
    for following in page.lines[line.number + 1 : line.number + 4]:
        if following.level:
            break
        if len(following.text) <= _MAX_LINE and read_until(following.text):
            return page.passage(following).field("until", GUESSED)
    return None


NORMALISERS.add("offer_code", read_code)
NORMALISERS.add("until", read_until)


DECLARATION = RecordKind(
    KIND,
    OfferFields,
    identity=(("title",),),
    subject="title",
    find=find,
    prompt="a reduction, a free first step or a deal that the page promises",
    is_asked_without_vertical=True,
    normalisers={
        "discount_percent": "percent",
        "discount_amount": "money_amount",
        "valid_until": "day",
    },
    is_linked=True,
    is_eventful=True,
)
