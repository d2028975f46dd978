"""Services of an organisation, from structured data or from pages of services and programs."""

from __future__ import annotations

import re

from messor.content.dates import fold
from messor.content.items import PageItem
from messor.content.kinds.build import GUESSED, VISIBLE, distinct, make, property_field
from messor.content.kinds.declaration import RecordKind
from messor.content.kinds.listed_organisations import read_listed
from messor.content.kinds.sections import folders_of, heading_of, read_sections, text_below
from messor.content.lines import Line
from messor.content.page_type import page_type
from messor.content.records import Record
from messor.content.schemas.base import Amount, Currency, FieldsModel, Link, Stated, Text
from messor.content.view import PageView

KIND = "service"
MAX_SERVICES = 100
_NAMED = """
    Service FinancialProduct FoodService GovernmentService TaxiService WebAPI BroadcastService
    MedicalProcedure MedicalTherapy SurgicalProcedure TherapeuticProcedure LoanOrCredit Course
    """
_TYPES = frozenset(_NAMED.split())
# What pages about help for people call their services, in headings and paths.
_HELP = re.compile(
    r"(?:(?:our|all|community|social|support|free) )*(?:programs?|programmes?|services|resources)(?: (?:and|&) "
    r"(?:programs|programmes|services|resources))?|(?:how we|ways we|we can) help|get help|find help|need help|what we (?:do|offer)|"
    r"angebote|hilfsangebote|nos services|nos programmes|programas|servicios|servizi"
)
# Pages of these types are about something else, whatever their path.
_OTHERS = frozenset(
    (
        "article",
        "product",
        "listing",
        "search",
        "legal",
        "login",
        "cart",
        "error",
        "home",
        "contact",
    )
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
    """Read the sections of a page of services, or a page about one program."""
    kind, heading, folders = page_type(page).name, heading_of(page), folders_of(page)
    names = [*folders[-1:], fold(heading.text) if heading is not None else ""]
    pairs: list[tuple[Line, Line]] = []
    if kind == "service" or (kind not in _OTHERS and any(map(_HELP.fullmatch, names))):
        pairs = read_sections(page)[:MAX_SERVICES]
    if (
        not pairs
        and kind not in _OTHERS
        and any(map(_HELP.fullmatch, folders[:-1]))
        and not read_listed(page)
    ):
        text = text_below(page, heading) if heading is not None else None
        pairs = [(heading, text)] if heading is not None and text is not None else []
    found = [_made(page, name, text) for name, text in pairs]
    return [record for record in found if record is not None]


def _made(page: PageView, name: Line, text: Line) -> Record | None:
    fields = {
        "name": page.passage(name).field("text", VISIBLE),
        "description": page.passage(text).field("long_text", GUESSED),
    }
    return make(KIND, fields, needs=("name", "description"))


DECLARATION = RecordKind(
    KIND,
    ServiceFields,
    identity=(("name",),),
    subject="name",
    find=find,
    prompt="service",
    is_eventful=True,
)
