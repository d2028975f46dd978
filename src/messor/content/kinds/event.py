"""Events: what happens when and where, from structured data or labels on an event's page."""

from __future__ import annotations

from functools import partial

from messor.content.dates import read_date
from messor.content.evidence import EvidencedField
from messor.content.items import PageItem
from messor.content.kinds.build import STATED, VISIBLE, make, property_field, stated_or_visible
from messor.content.kinds.declaration import RecordKind
from messor.content.kinds.organisation import address_fields
from messor.content.labels import Label, labels
from messor.content.page_type import page_type
from messor.content.records import Record
from messor.content.schemas.base import AddressFields, Amount, Currency, Date, Link, Stated, Text
from messor.content.view import PageView

KIND = "event"
MAX_EVENTS = 200
_TYPES = """
    Event BusinessEvent ChildrensEvent ComedyEvent CourseInstance DanceEvent DeliveryEvent
    EducationEvent ExhibitionEvent Festival FoodEvent Hackathon LiteraryEvent MusicEvent
    PublicationEvent SaleEvent ScreeningEvent SocialEvent SportsEvent TheaterEvent VisualArtsEvent
    """
TYPES = frozenset(_TYPES.split())
_LABELS = {
    "when": "date, when, datum, wann, termin, beginn, date et heure, quand, fecha, cuando, data, quando,"
    " data e ora, wanneer, kiedy, nar, hvornar, milloin, kdy, tarih, дата, когда, date and time,"
    " date & time, start, start date, starts, begins, date de debut, fecha de inicio, startdatum, beginnt",
    "until": "end, ends, end date, ende, enddatum, fin, date de fin, fecha de fin, fine, einde, koniec, slut",
    "where": "venue, location, where, ort, veranstaltungsort, wo, lieu, ou, lugar, donde, luogo, dove,"
    " local, onde, plaats, locatie, waar, miejsce, gdzie, plats, var, sted, hvor, paikka, missa, misto,"
    " kde, mekan, yer, место, где, місце, address, adresse",
    "by": "organizer, organiser, organised by, organized by, host, hosted by, veranstalter, organisateur,"
    " organizador, organizzatore, organisator, organizator, arrangor, организатор",
}
_WHEN, _UNTIL, _WHERE, _BY = (frozenset(words.split(", ")) for words in _LABELS.values())


class EventFields(AddressFields):
    name: Stated[Text]
    start: Stated[Date]
    end: Stated[Date] | None = None
    location: Stated[Text] | None = None
    organiser: Stated[Text] | None = None
    description: Stated[Text] | None = None
    price: Stated[Amount] | None = None
    currency: Stated[Currency] | None = None
    url: Stated[Link] | None = None


def find(page: PageView) -> list[Record]:
    """Return the events of a page."""
    stated = [_stated(item) for item in page.items_of(TYPES)[:MAX_EVENTS]]
    may_show = page_type(page).name == "event"
    return stated_or_visible(stated, partial(_visible, page) if may_show else None)


def _stated(item: PageItem) -> Record | None:
    place = item.item("location")
    offer = item.item("offers")
    address = place.item("address") if place else None
    return make(
        KIND,
        {
            "name": property_field(item, "name"),
            "start": property_field(item, "startDate", normaliser="date"),
            "end": property_field(item, "endDate", normaliser="date"),
            "location": property_field(place, "name") or property_field(item, "location"),
            **address_fields(address),
            "organiser": property_field(item.item("organizer", "performer"), "name")
            or property_field(item, "organizer"),
            "description": property_field(item, "description", normaliser="long_text"),
            "price": property_field(offer, "price", "lowPrice", normaliser="money_amount"),
            "currency": property_field(offer, "priceCurrency", normaliser="money_currency"),
            "url": property_field(item, "url", normaliser="link"),
        },
        needs=("name", "start"),
    )


def _visible(page: PageView) -> Record | None:
    title = next((line for line in page.lines if line.level == 1), None)
    if title is None:
        return None
    found_labels = labels(page)
    start = next(
        (label for label in found_labels if label.name in _WHEN and read_date(label.text)), None
    )
    marked = page.document.select_one("time[datetime]")
    begins: EvidencedField | None = None
    if start is not None:
        begins = start.passage(page).field("moment", VISIBLE)
    elif marked is not None:
        begins = page.attribute(marked, "datetime").field("date", VISIBLE)
    return make(
        KIND,
        {
            "name": page.passage(title).field("text", STATED),
            "start": begins,
            "end": _labelled(page, found_labels, _UNTIL, "moment"),
            "location": _labelled(page, found_labels, _WHERE, "text"),
            "organiser": _labelled(page, found_labels, _BY, "text"),
        },
        needs=("name", "start"),
    )


def _labelled(
    page: PageView, found_labels: list[Label], names: frozenset[str], normaliser: str
) -> EvidencedField | None:
    for label in found_labels:
        if label.name in names and len(label.text) < 200:
            return label.passage(page).field(normaliser, VISIBLE)
    return None


DECLARATION = RecordKind(
    KIND,
    EventFields,
    identity=(("name", "start"),),
    subject="name",
    find=find,
    prompt="event",
    normalisers={"start": "date", "end": "date"},
    is_eventful=True,
)
