"""Formats of the trades: iCalendar read by the icalendar package, schema.org JSON-LD by its own types."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import icalendar
import msgspec
import pytest

from messor.exports import calendars, linked_data
from messor.exports.nouns import NOUNS

COLUMNS = NOUNS["records"].columns
# Properties that schema.org defines for each type that is written, those of Thing included.
THING = {"@type", "@id", "mainEntityOfPage", "name", "description", "url"}
DEFINED = {
    "Organization": THING | {"legalName", "email", "telephone", "vatID", "logo", "foundingDate", "address"},
    "Event": THING | {"startDate", "endDate", "location", "organizer", "offers"},
    "Service": THING | {"areaServed", "provider", "offers"},
    "Product": THING | {"sku", "gtin", "category", "brand", "offers"},
    "MonetaryGrant": THING | {"funder", "amount"},
    "JobPosting": THING | {"title", "employmentType", "datePosted", "validThrough", "hiringOrganization",
                           "jobLocation", "baseSalary"},
    "ContactPoint": THING | {"contactType", "email", "telephone", "faxNumber"},
    "OpeningHoursSpecification": THING | {"dayOfWeek", "opens", "closes", "validFrom", "validThrough"},
    "PostalAddress": THING | {"streetAddress", "postalCode", "addressLocality", "addressRegion", "addressCountry"},
    "Offer": THING | {"price", "priceCurrency"},
    "MonetaryAmount": THING | {"value", "currency"},
    "Brand": THING,
    "Place": THING | {"address"},
}  # fmt: skip

RECORDS: list[tuple[str, dict[str, Any]]] = [
    ("event", {"name": "Fair; with, signs\nand \\ lines", "start": "2026-12-01T18:00:00+01:00",
               "end": "2026-12-01T20:00:00+01:00", "location": "Town hall", "locality": "Graz",
               "description": "é" * 200, "price": 5, "currency": "EUR", "organiser": "Club"}),
    ("event", {"name": "Days", "start": "2026-12-24", "end": "2026-12-26"}),
    ("event", {"name": "No date", "start": "soon"}),
    ("funding_program", {"name": "Grant", "deadline": "2027-01-31", "amount": 1000, "currency": "EUR",
                         "funder": "Fund"}),
    ("opportunity", {"title": "Cook", "deadline": "2027-02-01", "organisation": "Inn", "salary": 9.5}),
    ("opening_hours", {"days": ["monday", "friday"], "hours": [{"opens": "09:00", "closes": "12:00"},
                                                               {"opens": "22:00", "closes": "02:00"}]}),
    ("opening_hours", {"days": ["sunday"]}),
    ("organisation", {"name": "Inn", "street": "Road 1", "country": "AT", "vat_id": "ATU1"}),
    ("service", {"name": "Cut", "provider": "Inn", "price": 20, "currency": "EUR"}),
    ("product", {"name": "Pan", "brand": "Iron", "price": 30, "currency": "EUR"}),
    ("contact", {"name": "Ann", "role": "owner", "phone": "+43 1"}),
    ("faq", {"question": "Why?"}),
]  # fmt: skip


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "rows"
    rows = [
        {
            "id": number, "kind": kind, "data": data, "domain": "inn.example", "url": "https://inn.example/a,b",
            "updated_at": "2026-11-18T10:00:00+00:00", "first_seen": "2026-11-18T10:00:00+00:00",
        }
        for number, (kind, data) in enumerate(RECORDS)
    ]  # fmt: skip
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    return path


def test_a_calendar_is_read_by_another_library(source: Path, tmp_path: Path) -> None:
    calendars.write(source, tmp_path / "c.ics", "records", COLUMNS)
    content = (tmp_path / "c.ics").read_bytes()
    assert all(len(line) <= 75 for line in content.split(b"\r\n"))
    calendar: Any = icalendar.Calendar.from_ical(content)
    assert not calendar.errors
    entries: list[Any] = list(calendar.walk("VEVENT"))
    found = {str(each["SUMMARY"]): each for each in entries}
    assert not any(each.errors for each in found.values())
    fair = found["Fair; with, signs\nand \\ lines"]
    assert fair.decoded("DTSTART") == datetime(2026, 12, 1, 17, tzinfo=UTC)
    assert str(fair["DESCRIPTION"]) == "é" * 200
    assert str(fair["LOCATION"]) == "Town hall, Graz"
    assert found["Days"].decoded("DTEND") == date(2026, 12, 27)
    assert found["Deadline: Grant"].decoded("DTSTART") == date(2027, 1, 31)
    assert "No date" not in found
    hours = [each for each in entries if "RRULE" in each]
    assert [each["RRULE"]["BYDAY"] for each in hours] == [["MO", "FR"]] * 2
    assert [each.decoded("DTSTART").isoformat() for each in hours] == [
        "2026-11-20T09:00:00",
        "2026-11-20T22:00:00",
    ]
    assert hours[1].decoded("DTEND").isoformat() == "2026-11-21T02:00:00"
    uids = [str(each["UID"]) for each in entries]
    assert len(uids) == len(set(uids)) == 6


def test_linked_data_has_only_what_schema_org_defines(source: Path, tmp_path: Path) -> None:
    linked_data.write(source, tmp_path / "g.jsonld", "records", COLUMNS)
    document = json.loads((tmp_path / "g.jsonld").read_bytes())
    assert document["@context"] == "https://schema.org"
    graph = document["@graph"]
    assert len(graph) == len(RECORDS) - 1  # all but the question
    assert len({node["@id"] for node in graph}) == len(graph)
    for node in graph:
        _check(node)
    named = {node.get("name"): node for node in graph}
    assert named["Pan"]["offers"] == {"@type": "Offer", "price": 30, "priceCurrency": "EUR"}
    assert named["Inn"]["address"]["addressCountry"] == "AT"
    assert named["Grant"]["amount"]["value"] == 1000


def _check(node: dict[str, Any]) -> None:
    assert set(node) <= DEFINED[node["@type"]], node
    assert None not in node.values()
    for value in node.values():
        if isinstance(value, dict):
            _check(value)
