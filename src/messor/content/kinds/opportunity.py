"""Opportunities: jobs, volunteering, training, calls and the like that one can apply for."""

from __future__ import annotations

import re
from typing import Literal

from messor.content.dates import fold
from messor.content.evidence import NORMALISERS, EvidencedField
from messor.content.items import PageItem
from messor.content.kinds.build import (
    GUESSED,
    STATED,
    VISIBLE,
    distinct,
    make,
    property_field,
)
from messor.content.kinds.declaration import RecordKind
from messor.content.kinds.opportunity_words import CLOSES, KINDS, PLACE, WHO
from messor.content.kinds.sections import heading_of, read_sections, text_below
from messor.content.labels import Label, labels
from messor.content.page_type import WRITTEN, page_type
from messor.content.records import Record
from messor.content.schemas.base import Amount, Currency, Day, FieldsModel, Link, Stated, Text
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
# How one joins as a volunteer.
_JOIN = re.compile(
    r"(?<!\w)(?:sign up|sign me up|register|join (?:us|our|the)|become a volunteer|volunteer (?:now|today|form|application)|"
    r"apply|get in touch|contact us|e-?mail us|mitmachen|anmelden|inscrivez|inscribete|iscriviti|meld je aan)(?!\w)"
)
MAX_ROLES = 50
_SILENT = frozenset((*WRITTEN, "product", "listing", "search", "legal", "login", "cart", "error"))


Sort = Literal[
    "job", "internship", "apprenticeship", "volunteering", "scholarship", "tender", "call", "course"
]


class OpportunityFields(FieldsModel):
    title: Stated[Text]
    type: Stated[Sort] | None = None
    organisation: Stated[Text] | None = None
    location: Stated[Text] | None = None
    employment_type: Stated[Text] | None = None
    published: Stated[Day] | None = None
    deadline: Stated[Day] | None = None
    salary: Stated[Amount] | None = None
    currency: Stated[Currency] | None = None
    description: Stated[Text] | None = None
    url: Stated[Link] | None = None


def read_kind(text: str) -> str | None:
    """Return the type of opportunity a text names: job, internship, volunteering, …"""
    folded = fold(text[:300])
    return next((name for name, pattern in KINDS if pattern.search(folded)), None)


def find(page: PageView) -> list[Record]:
    """Return the opportunities of a page."""
    stated = [_stated(item) for item in page.items_of(_JOBS)[:100]]
    if any(stated) or page_type(page).name in _SILENT:
        return distinct([record for record in stated if record is not None])
    one = _visible(page)
    return [one] if one is not None else distinct(_volunteering(page))


def _stated(item: PageItem) -> Record | None:
    place = item.item("jobLocation")
    address = place.item("address") if place else None
    pay = item.item("baseSalary")
    amount = pay.item("value") if pay else None
    return make(
        KIND,
        {
            "title": property_field(item, "title", "name"),
            "organisation": property_field(item.item("hiringOrganization", "provider"), "name")
            or property_field(item, "hiringOrganization"),
            "location": property_field(address, "addressLocality")
            or property_field(place, "name", "address"),
            "employment_type": property_field(item, "employmentType"),
            "published": property_field(item, "datePosted", normaliser="day"),
            "deadline": property_field(
                item, "validThrough", "applicationDeadline", normaliser="day"
            ),
            "salary": property_field(amount, "value", "minValue", normaliser="money_amount"),
            "currency": property_field(pay, "currency", normaliser="money_currency"),
            "description": property_field(item, "description", normaliser="long_text"),
            "url": property_field(item, "url", normaliser="link"),
        },
        needs=("title",),
    )


def _visible(page: PageView) -> Record | None:
    """Read a page about one opportunity: its heading names the type, and one can apply."""
    heading = heading_of(page)
    if heading is None or read_kind(heading.text) is None or not _APPLY.search(page.folded):
        return None
    found_labels = labels(page)
    deadline = labelled(page, found_labels, CLOSES, "day")
    place = labelled(page, found_labels, PLACE, "text")
    if deadline is None and place is None:
        return None
    return make(
        KIND,
        {
            "title": page.passage(heading).field("text", STATED),
            "type": page.passage(heading).field("opportunity", VISIBLE),
            "organisation": labelled(page, found_labels, WHO, "text"),
            "location": place,
            "deadline": deadline,
            "url": _apply_link(page),
        },
        needs=("title",),
    )


def _volunteering(page: PageView) -> list[Record]:
    """Read the roles of a page for volunteers: its sections, or the page itself if it has none."""
    heading = heading_of(page)
    if heading is None or read_kind(heading.text) != "volunteering":
        return []
    if not _JOIN.search(page.folded):
        return []
    sections = read_sections(page)[:MAX_ROLES]
    text = text_below(page, heading)
    roles = sections if len(sections) > 1 else [(heading, text)] if text is not None else []
    sort, link = page.passage(heading).field("opportunity", VISIBLE), _apply_link(page)
    found = [
        make(
            KIND,
            {
                "title": page.passage(name).field("text", VISIBLE),
                "type": sort,
                "description": page.passage(about).field("long_text", GUESSED),
                "url": link,
            },
            needs=("title", "description"),
        )
        for name, about in roles
    ]
    return [record for record in found if record is not None]


def labelled(
    page: PageView, found_labels: list[Label], names: re.Pattern[str], normaliser: str
) -> EvidencedField | None:
    """Return the field of the first statement whose label matches and whose text yields a value."""
    for label in found_labels:
        if names.fullmatch(label.name) and len(label.text) <= 400:
            field = label.passage(page).field(normaliser, VISIBLE)
            if field is not None:
                return field
    return None


def _apply_link(page: PageView) -> EvidencedField | None:
    for anchor in page.anchors:
        text = fold(anchor.text[:80])
        if len(text) < 60 and (_APPLY.search(text) or _JOIN.search(text)):
            return page.attribute(anchor, "href").field("link", GUESSED)
    return None


NORMALISERS.add("opportunity", read_kind)


DECLARATION = RecordKind(
    KIND,
    OpportunityFields,
    identity=(("title", "url"), ("title",)),
    subject="title",
    find=find,
    prompt="a job, scholarship, tender or the like that one can apply for",
    normalisers={"type": "opportunity", "published": "day", "salary": "money_amount"},
    is_linked=True,
    is_eventful=True,
)
