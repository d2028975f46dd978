"""Funding programs: who funds what, how much, until when, for whom and where.

A page states one if its title names funding and at least two of these facts are labelled.
"""

from __future__ import annotations

from functools import partial

from messor.content.amounts import money_in
from messor.content.dates import fold
from messor.content.evidence import EvidencedField
from messor.content.items import PageItem
from messor.content.kinds.build import VISIBLE, make, property_field, stated_or_visible
from messor.content.kinds.declaration import RecordKind
from messor.content.kinds.opportunity import labelled
from messor.content.kinds.opportunity_words import (
    AMOUNT,
    CLOSES,
    ELIGIBLE,
    FUNDER,
    FUNDING,
    REGION,
)
from messor.content.labels import Label, labels
from messor.content.lines import Line
from messor.content.page_type import page_type
from messor.content.records import Record
from messor.content.schemas.base import Amount, Currency, Day, FieldsModel, Link, Stated, Text
from messor.content.view import PageView

KIND = "funding_program"
_GRANTS = frozenset(("Grant", "MonetaryGrant", "FundingScheme"))
_MAX_ITEM = 400
_MAX_ITEMS = 30
_SILENT = frozenset(("product", "listing", "search", "legal", "login", "cart", "error"))


class FundingProgramFields(FieldsModel):
    name: Stated[Text]
    funder: Stated[Text] | None = None
    amount: Stated[Amount] | None = None
    currency: Stated[Currency] | None = None
    deadline: Stated[Day] | None = None
    eligibility: Stated[Text] | None = None
    region: Stated[Text] | None = None
    description: Stated[Text] | None = None
    url: Stated[Link] | None = None


def find(page: PageView) -> list[Record]:
    """Return the funding programs of a page."""
    stated = [_stated(item) for item in page.items_of(_GRANTS)[:50]]
    may_show = page_type(page).name not in _SILENT
    return stated_or_visible(stated, partial(_visible, page) if may_show else None)


def _stated(item: PageItem) -> Record | None:
    money = item.item("amount")
    return make(
        KIND,
        {
            "name": property_field(item, "name"),
            "funder": property_field(item.item("funder", "sponsor"), "name")
            or property_field(item, "funder", "sponsor"),
            "amount": property_field(money, "value", "maxValue", normaliser="money_amount")
            or property_field(item, "amount", normaliser="money_amount"),
            "currency": property_field(money, "currency", normaliser="money_currency"),
            "description": property_field(item, "description", normaliser="long_text"),
            "url": property_field(item, "url", normaliser="link"),
        },
        needs=("name",),
    )


def _visible(page: PageView) -> Record | None:
    heading = next((line for line in page.lines if line.level == 1), None)
    if heading is None or not _is_about_funding(page, heading):
        return None
    found_labels = labels(page)
    found: dict[str, EvidencedField | None] = {
        "funder": labelled(page, found_labels, FUNDER, "text"),
        "deadline": labelled(page, found_labels, CLOSES, "day"),
        "eligibility": _eligibility(page, found_labels),
        "region": labelled(page, found_labels, REGION, "text"),
        **_amount(page),
    }
    if sum(field is not None for name, field in found.items() if name != "currency") < 2:
        return None
    return make(
        KIND, {"name": page.passage(heading).field("text", VISIBLE), **found}, needs=("name",)
    )


def _eligibility(page: PageView, found_labels: list[Label]) -> EvidencedField | None:
    """Return who may apply: the text after a label, or all items of a list."""
    for label in found_labels:
        if ELIGIBLE.fullmatch(label.name) and len(label.text) <= _MAX_ITEM:
            last, items = label.line, label.line.element.parent
            if label.line.element.tag == "li":
                for line in page.lines[last.number + 1 : last.number + _MAX_ITEMS]:
                    if line.element.tag != "li" or line.element.parent != items:
                        break
                    last = line
            listed = last is not label.line
            passage = page.between(label.line, last) if listed else label.passage(page)
            field = passage.field("text", VISIBLE)
            if field is not None:
                return field
    return None


def _is_about_funding(page: PageView, heading: Line) -> bool:
    title = page.document.find("title")
    text = f"{heading.text} {title.text[:200] if title is not None else ''}"
    return FUNDING.search(fold(text)) is not None


def _amount(page: PageView) -> dict[str, EvidencedField | None]:
    """Return the labelled amount; of a range, the larger one."""
    for label in labels(page):
        if not AMOUNT.fullmatch(label.name):
            continue
        line = label.line
        value = max(line.text.rfind(label.text), 0)  # after the label
        written = [
            line.text[begin:end].strip()
            for begin, end in money_in(line)
            if value <= begin < value + _MAX_ITEM
        ]
        fields = [page.passage(line, text) for text in written]
        amounts = [(passage.field("money_amount", VISIBLE), passage) for passage in fields]
        known = [(field, passage) for field, passage in amounts if field is not None]
        if known:
            field, passage = max(known, key=lambda each: float(each[0].value))
            return {"amount": field, "currency": passage.field("money_currency", VISIBLE)}
    return {}


DECLARATION = RecordKind(
    KIND,
    FundingProgramFields,
    identity=(("name",),),
    subject="name",
    find=find,
    prompt="a grant, loan or fund that one can apply for",
    normalisers={"amount": "money_amount", "eligibility": "long_text"},
    is_linked=True,
    is_eventful=True,
)
