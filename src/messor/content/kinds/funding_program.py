"""Funding programs: who funds what, with how much, until when, for whom and where.

A page states one where its title names funding and at least two of those are labelled on it.
"""

from __future__ import annotations

from functools import partial

from messor.content.amounts import money_in
from messor.content.dates import fold
from messor.content.evidence import EvidencedField
from messor.content.items import PageItem
from messor.content.kinds.build import SHOWN, make, said, stated_or_shown
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
from messor.content.view import PageView

KIND = "funding_program"
_GRANTS = frozenset(("Grant", "MonetaryGrant", "FundingScheme"))
_MAX_ITEM = 400
_MAX_ITEMS = 30
_SILENT = frozenset(("product", "listing", "search", "legal", "login", "cart", "error"))


def find(page: PageView) -> list[Record]:
    """The funding programs of a page."""
    stated = [_stated(item) for item in page.items_of(_GRANTS)[:50]]
    may_show = page_type(page).name not in _SILENT
    return stated_or_shown(stated, partial(_shown, page) if may_show else None)


def _stated(item: PageItem) -> Record | None:
    money = item.item("amount")
    return make(
        KIND,
        {
            "name": said(item, "name"),
            "funder": said(item.item("funder", "sponsor"), "name")
            or said(item, "funder", "sponsor"),
            "amount": said(money, "value", "maxValue", normaliser="money_amount")
            or said(item, "amount", normaliser="money_amount"),
            "currency": said(money, "currency", normaliser="money_currency"),
            "description": said(item, "description", normaliser="long_text"),
            "url": said(item, "url", normaliser="link"),
        },
        needs=("name",),
    )


def _shown(page: PageView) -> Record | None:
    heading = next((line for line in page.lines if line.level == 1), None)
    if heading is None or not _is_about_funding(page, heading):
        return None
    told = labels(page)
    found: dict[str, EvidencedField | None] = {
        "funder": labelled(page, told, FUNDER, "text"),
        "deadline": labelled(page, told, CLOSES, "day"),
        "eligibility": _eligibility(page, told),
        "region": labelled(page, told, REGION, "text"),
        **_amount(page),
    }
    if sum(field is not None for name, field in found.items() if name != "currency") < 2:
        return None
    return make(KIND, {"name": page.said(heading).field("text", SHOWN), **found}, needs=("name",))


def _eligibility(page: PageView, told: list[Label]) -> EvidencedField | None:
    """Who may apply: what a label announces, all items where that is a list."""
    for label in told:
        if ELIGIBLE.fullmatch(label.name) and len(label.text) <= _MAX_ITEM:
            last, items = label.line, label.line.element.parent
            if label.line.element.tag == "li":
                for line in page.lines[last.number + 1 : last.number + _MAX_ITEMS]:
                    if line.element.tag != "li" or line.element.parent != items:
                        break
                    last = line
            listed = last is not label.line
            passage = page.between(label.line, last) if listed else label.passage(page)
            field = passage.field("text", SHOWN)
            if field is not None:
                return field
    return None


def _is_about_funding(page: PageView, heading: Line) -> bool:
    title = page.document.find("title")
    text = f"{heading.text} {title.text[:200] if title is not None else ''}"
    return FUNDING.search(fold(text)) is not None


def _amount(page: PageView) -> dict[str, EvidencedField | None]:
    """The amount that a label announces; the larger one of a span."""
    for label in labels(page):
        if not AMOUNT.fullmatch(label.name):
            continue
        line = label.line
        value = max(line.text.rfind(label.text), 0)  # behind the label
        written = [
            line.text[begin:end].strip()
            for begin, end in money_in(line)
            if value <= begin < value + _MAX_ITEM
        ]
        fields = [page.said(line, text) for text in written]
        amounts = [(passage.field("money_amount", SHOWN), passage) for passage in fields]
        known = [(field, passage) for field, passage in amounts if field is not None]
        if known:
            field, passage = max(known, key=lambda each: float(each[0].value))
            return {"amount": field, "currency": passage.field("money_currency", SHOWN)}
    return {}
