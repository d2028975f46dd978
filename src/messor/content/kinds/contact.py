"""Contacts: people, e-mail addresses, telephone numbers, postal addresses, profiles and forms.

This module reads structured data; `visible_contacts` reads visible text.
"""

from __future__ import annotations

from messor.content import phones
from messor.content.dates import fold
from messor.content.evidence import EvidencedField, Passage
from messor.content.items import PageItem
from messor.content.kinds.build import LINKED, STATED, VISIBLE, distinct, make, property_field
from messor.content.kinds.declaration import RecordKind
from messor.content.kinds.visible_contacts import KIND, MAX_CONTACTS, visible_contacts
from messor.content.links import read_network
from messor.content.page_type import WRITTEN, page_type
from messor.content.places import country_of
from messor.content.records import Record
from messor.content.schemas.base import AddressFields, Email, Link, Phone, Stated, Text
from messor.content.view import PageView

_PEOPLE = frozenset(("Person", "Physician", "Patient"))
_POINTS = frozenset(("ContactPoint",))


class ContactFields(AddressFields):
    """A person or a place that can be reached, a social profile, or a form."""

    name: Stated[Text] | None = None
    role: Stated[Text] | None = None
    email: Stated[Email] | None = None
    phone: Stated[Phone] | None = None
    phone_text: Stated[Text] | None = None
    fax: Stated[Phone] | None = None
    network: Stated[Text] | None = None
    profile: Stated[Link] | None = None
    form_action: Stated[Link] | None = None
    form_message: Stated[Text] | None = None


def find(page: PageView) -> list[Record]:
    """Return the contacts of a page."""
    records = [
        *_people(page),
        *_points(page),
        *visible_contacts(page),
        *_profiles(page),
        *_forms(page),
    ]
    return _news(distinct([record for record in records if record is not None]))[:MAX_CONTACTS]


def _news(records: list[Record]) -> list[Record]:
    """Drop records whose addresses and numbers all occurred before."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for record in records:
        values = {(name, str(each.value)) for name, each in record.fields.items()}
        if not {each for each in values if each[0] != "phone_text" or len(values) == 1} <= seen:
            kept.append(record)
            seen |= values
    return kept


def _people(page: PageView) -> list[Record | None]:
    """Return people with contact details or a role."""
    found = []
    for item in page.items_of(_PEOPLE)[:MAX_CONTACTS]:
        known = {
            "name": property_field(item, "name"),
            "role": property_field(item, "jobTitle", "roleName"),
            **_reach(page, item),
        }
        if len([each for each in known.values() if each is not None]) > 1:
            found.append(make(KIND, known, needs=("name",)))
    return found


def _points(page: PageView) -> list[Record | None]:
    return [
        make(KIND, {"role": property_field(item, "contactType"), **_reach(page, item)})
        for item in page.items_of(_POINTS)[:MAX_CONTACTS]
        if item.text("telephone", "email", "faxNumber")
    ]


def _reach(page: PageView, item: PageItem) -> dict[str, EvidencedField | None]:
    national = phones.normaliser(country_of(page))
    phone = property_field(item, "telephone", normaliser="phone")
    fax = property_field(item, "faxNumber", normaliser="phone")
    return {
        "email": property_field(item, "email", normaliser="email"),
        "phone": phone
        or property_field(item, "telephone", normaliser=national, confidence=VISIBLE),
        "phone_text": property_field(item, "telephone"),
        "fax": fax or property_field(item, "faxNumber", normaliser=national, confidence=VISIBLE),
    }


def _profiles(page: PageView) -> list[Record | None]:
    """Return social network profiles that the page states, or links to outside its running text."""
    found: dict[str, Record | None] = {}
    written = page_type(page).name in (*WRITTEN, "listing", "search")
    for anchor, href in page.links:
        if "//" not in href or href in found:
            continue
        if read_network(href) is None or (written and anchor.closest("p, article") is not None):
            continue
        found[href] = _profile(page.attribute(anchor, "href"), LINKED)
    known = {_plain_address(href) for href in found}
    for item in page.items:
        for passage in () if item.is_a(_PEOPLE) else item.texts("sameAs"):
            address = _plain_address(passage.text)
            if address not in known and read_network(passage.text) is not None:
                known.add(address)
                found[passage.text] = _profile(passage, STATED)
    return list(found.values())[:40]


def _plain_address(url: str) -> str:
    """Return the canonical form of a profile's URL."""
    return url.partition("//")[2].lower().removeprefix("www.").rstrip("/")


def _profile(passage: Passage, confidence: float) -> Record | None:
    network = passage.field("network", confidence)
    profile = passage.field("profile", confidence)
    return make(KIND, {"network": network, "profile": profile}, needs=("profile",))


def _forms(page: PageView) -> list[Record | None]:
    """Return forms that take a message and an e-mail address and are not comment forms."""
    if page_type(page).name in (*WRITTEN, "product", "listing", "login"):
        return []
    found: list[Record | None] = []
    for form in page.document.select("form")[:50]:
        about = fold(
            f"{form.attr('id') or ''} {form.attr('class') or ''} {form.attr('action') or ''}"
        )
        message = form.select_one("textarea")
        if message is None or "comment" in about or "kommentar" in about or "search" in about:
            continue
        if form.select_one('input[type="email"], input[name*="mail" i]') is None:
            continue
        action = page.attribute(form, "action").field("link", VISIBLE)
        name = page.attribute(message, "name").field("text", VISIBLE)
        found.append(make(KIND, {"form_action": action, "form_message": name}))
    return found


DECLARATION = RecordKind(
    KIND,
    ContactFields,
    identity=(
        ("email",),
        ("phone",),
        ("profile",),
        ("name", "role"),
        ("name",),
        ("form_action",),
        ("street", "locality"),
    ),
    subject="name",
    titles=("email", "phone", "profile"),
    find=find,
    prompt="contact",
    normalisers=dict.fromkeys(("network", "form_action", "form_message")),
)
