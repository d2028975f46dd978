"""Services of an organisation, from structured data or from the sections of a services page."""

from __future__ import annotations

import re

from messor.content.dates import fold
from messor.content.items import PageItem
from messor.content.kinds.build import GUESSED, VISIBLE, distinct, make, property_field
from messor.content.kinds.declaration import RecordKind
from messor.content.lines import Line
from messor.content.page_type import page_type
from messor.content.records import Record
from messor.content.schemas.base import Amount, Currency, FieldsModel, Link, Stated, Text
from messor.content.view import PageView

KIND = "service"
MAX_SERVICES = 100
_MAX_NAME = 80
_NAMED = """
    Service FinancialProduct FoodService GovernmentService TaxiService WebAPI BroadcastService
    MedicalProcedure MedicalTherapy SurgicalProcedure TherapeuticProcedure LoanOrCredit Course
    """
_TYPES = frozenset(_NAMED.split())
# Headings of sections that are not services.
_FRAME = re.compile(
    r"(?<!\w)(?:contact|kontakt|about|uber uns|faq|questions?|fragen|testimonials?|reviews?|kunden|news|"
    r"newsletter|blog|opening|offnungszeiten|follow|share|related|cookie|privacy|login|team|partners?|"
    r"why|warum|our services|services|unsere leistungen|leistungen|nos services|nuestros servicios|"
    r"i nostri servizi|onze diensten|our clients|get in touch|how it works|comments?|archives?|"
    r"categories|search|menu|navigation|footer|social|subscribe|address|adresse|location|avis|temoignages|"
    r"horaires|contacto|contatti|sobre|chi siamo|over ons)(?!\w)"
)


class ServiceFields(FieldsModel):
    name: Stated[Text]
    description: Stated[Text] | None = None
    provider: Stated[Text] | None = None
    area: Stated[Text] | None = None
    price: Stated[Amount] | None = None
    currency: Stated[Currency] | None = None
    url: Stated[Link] | None = None


def find(page: PageView) -> list[Record]:
    """Return the services of a page."""
    found = [_stated(item) for item in page.items_of(_TYPES)[:MAX_SERVICES]]
    stated = [record for record in found if record is not None]
    return distinct(stated or _visible(page))


def _stated(item: PageItem) -> Record | None:
    offer = item.item("offers")
    provider = item.item("provider")
    area = item.item("areaServed")
    return make(
        KIND,
        {
            "name": property_field(item, "name", "serviceType"),
            "description": property_field(item, "description", normaliser="long_text"),
            "provider": property_field(provider, "name") or property_field(item, "provider"),
            "area": property_field(area, "name") or property_field(item, "areaServed"),
            "price": property_field(offer, "price", "lowPrice", normaliser="money_amount"),
            "currency": property_field(offer, "priceCurrency", normaliser="money_currency"),
            "url": property_field(item, "url", normaliser="link"),
        },
        needs=("name",),
    )


def _visible(page: PageView) -> list[Record]:
    """Read the sections of a services page: headings of one level, each followed by text."""
    if page_type(page).name != "service":
        return []
    sections = [
        (line, text)
        for line in page.lines
        if _names(line) and (text := _text_below(page, line)) is not None
    ]
    levels = [line.level for line, _ in sections]
    if not levels:
        return []
    usual = max(sorted(set(levels)), key=levels.count)
    found = []
    for line, text in [each for each in sections if each[0].level == usual][:MAX_SERVICES]:
        fields = {
            "name": page.passage(line).field("text", VISIBLE),
            "description": page.passage(text).field("long_text", GUESSED),
        }
        found.append(make(KIND, fields, needs=("name", "description")))
    return [record for record in found if record is not None]


def _names(line: Line) -> bool:
    return (
        2 <= line.level <= 4
        and 3 <= len(line.text) <= _MAX_NAME
        and line.region not in ("nav", "footer", "aside", "header")
        and line.text[-1] not in "?!.:"
        and not _FRAME.search(fold(line.text))
    )


def _text_below(page: PageView, line: Line) -> Line | None:
    for following in page.lines[line.number + 1 : line.number + 4]:
        if following.level or following.region in ("nav", "footer", "aside"):
            return None
        if len(following.text) >= 30:
            return following
    return None


DECLARATION = RecordKind(
    KIND,
    ServiceFields,
    identity=(("name",),),
    subject="name",
    find=find,
    prompt="service",
    is_eventful=True,
)
