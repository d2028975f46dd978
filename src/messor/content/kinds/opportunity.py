"""Opportunities: jobs, volunteering, training, calls and the like that one can apply for."""

from __future__ import annotations

import re
from functools import partial

from messor.content.dates import fold
from messor.content.evidence import NORMALISERS, EvidencedField
from messor.content.items import PageItem
from messor.content.kinds.build import GUESSED, SHOWN, STATED, make, said, stated_or_shown
from messor.content.kinds.opportunity_words import CLOSES, KINDS, PLACE, WHO
from messor.content.labels import Label, labels
from messor.content.page_type import page_type
from messor.content.records import Record
from messor.content.view import PageView

KIND = "opportunity"
_JOBS = frozenset(
    ("JobPosting", "OccupationalExperienceRequirements", "EducationalOccupationalProgram")
)
_APPLY = re.compile(
    r"(?<!\w)(?:apply|application|bewerben|bewerbung|bewirb|postuler|candidature|candidater|solicitud|inscripcion|"
    r"candidati|candidatura|domanda|candidatar|sollicit|aanmelden|aplikuj|zglos|ansok|soknad|ansog|hae|hakemus|"
    r"prihlaska|basvur|заявк|відгукн|откликн)"
)
_SILENT = frozenset(("article", "product", "listing", "search", "legal", "login", "cart", "error"))


def read_kind(text: str) -> str | None:
    """What sort of opportunity a text names: job, internship, volunteering, …"""
    folded = fold(text[:300])
    return next((name for name, pattern in KINDS if pattern.search(folded)), None)


def find(page: PageView) -> list[Record]:
    """The opportunities of a page."""
    stated = [_stated(item) for item in page.items_of(_JOBS)[:100]]
    may_show = page_type(page).name not in _SILENT
    return stated_or_shown(stated, partial(_shown, page) if may_show else None)


def _stated(item: PageItem) -> Record | None:
    place = item.item("jobLocation")
    address = place.item("address") if place else None
    pay = item.item("baseSalary")
    amount = pay.item("value") if pay else None
    return make(
        KIND,
        {
            "title": said(item, "title", "name"),
            "organisation": said(item.item("hiringOrganization", "provider"), "name")
            or said(item, "hiringOrganization"),
            "location": said(address, "addressLocality") or said(place, "name", "address"),
            "employment_type": said(item, "employmentType"),
            "published": said(item, "datePosted", normaliser="day"),
            "deadline": said(item, "validThrough", "applicationDeadline", normaliser="day"),
            "salary": said(amount, "value", "minValue", normaliser="money_amount"),
            "currency": said(pay, "currency", normaliser="money_currency"),
            "description": said(item, "description", normaliser="long_text"),
            "url": said(item, "url", normaliser="link"),
        },
        needs=("title",),
    )


def _shown(page: PageView) -> Record | None:
    """An opportunity's own page: its heading names the sort, and it can be applied for."""
    heading = next((line for line in page.lines if line.level == 1), None)
    if heading is None or read_kind(heading.text) is None or not _APPLY.search(page.folded):
        return None
    told = labels(page)
    deadline = labelled(page, told, CLOSES, "day")
    place = labelled(page, told, PLACE, "text")
    if deadline is None and place is None:
        return None
    return make(
        KIND,
        {
            "title": page.said(heading).field("text", STATED),
            "type": page.said(heading).field("opportunity", SHOWN),
            "organisation": labelled(page, told, WHO, "text"),
            "location": place,
            "deadline": deadline,
            "url": _apply_link(page),
        },
        needs=("title",),
    )


def labelled(
    page: PageView, told: list[Label], names: re.Pattern[str], normaliser: str
) -> EvidencedField | None:
    """The first statement whose label matches and which says such a thing."""
    for label in told:
        if names.fullmatch(label.name) and len(label.text) <= 400:
            field = label.passage(page).field(normaliser, SHOWN)
            if field is not None:
                return field
    return None


def _apply_link(page: PageView) -> EvidencedField | None:
    for anchor in page.anchors:
        text = fold(anchor.text[:80])
        if len(text) < 60 and _APPLY.search(text):
            return page.attribute(anchor, "href").field("link", GUESSED)
    return None


NORMALISERS.add("opportunity", read_kind)
