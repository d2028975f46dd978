"""Formats of the trades: iCalendar read by the icalendar package, schema.org JSON-LD by its own types,
Open Referral HSDS by its public schema.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import icalendar
import msgspec
import pytest

from messor.exports import calendars, linked_data
from messor.exports import hsds as module
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

# What HSDS 3.1 requires of each part, and which fields are numbers; facts of its public schema
# (github.com/openreferral/specification, CC BY-SA 4.0). The whole schema is applied where it is.
REQUIRED: dict[str, tuple[set[str], set[str]]] = {
    "organization": ({"id", "name", "description"}, {"year_incorporated"}),
    "service": ({"id", "name", "status"}, {"minimum_age", "maximum_age"}),
    "location": ({"id", "location_type"}, {"latitude", "longitude"}),
    "address": ({"id", "address_1", "city", "state_province", "postal_code", "country",
                 "address_type"}, set()),
    "phone": ({"id", "number"}, {"extension"}),
    "contact": ({"id"}, set()),
    "schedule": ({"id"}, {"timezone", "count", "interval"}),
    "service_area": ({"id"}, set()),
    "cost_option": ({"id"}, {"amount"}),
}  # fmt: skip
PARTS = {
    "services": "service", "locations": "location", "addresses": "address", "phones": "phone",
    "contacts": "contact", "schedules": "schedule", "service_areas": "service_area",
    "cost_options": "cost_option",
}  # fmt: skip


def row_of(number: int, kind: str, data: dict[str, Any]) -> dict[str, Any]:
    """A record as it is exported."""
    return {
        "id": number, "kind": kind, "data": data, "domain": "inn.example", "url": "https://inn.example/a,b",
        "state": "current", "updated_at": "2026-11-18T10:00:00+00:00",
        "first_seen": "2026-11-18T10:00:00+00:00",
    }  # fmt: skip


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "rows"
    rows = [row_of(number, kind, data) for number, (kind, data) in enumerate(RECORDS)]
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


HSDS = Path(os.environ.get("MESSOR_HSDS_SCHEMA", "no/schema")) / "organization_package.json"


def hsds(source: Path, folder: Path) -> list[dict[str, Any]]:
    module.write(source, folder / "o.hsds.json", "records", COLUMNS)
    assert sorted(path.name for path in folder.glob("o.*")) == ["o.hsds.json"]
    found: list[dict[str, Any]] = json.loads((folder / "o.hsds.json").read_bytes())
    return found


def test_hsds_holds_each_organisation_with_what_it_offers(source: Path, tmp_path: Path) -> None:
    (inn,) = hsds(source, tmp_path)
    assert (inn["name"], inn["website"], inn["tax_id"]) == ("Inn", "https://inn.example/", "ATU1")
    assert {one["name"] for one in inn["services"]} == {"Cut", "Grant"}
    cut = next(one for one in inn["services"] if one["name"] == "Cut")
    assert (cut["status"], cut["organization_id"]) == ("active", inn["id"])
    assert cut["cost_options"][0]["amount"] == 20
    (place,) = inn["locations"]
    assert place["addresses"][0]["address_1"] == "Road 1"
    assert place["addresses"][0]["city"] == ""  # required, and not stated
    assert [(one["byday"], one["opens_at"], one["closes_at"]) for one in place["schedules"]] == [
        ("MO,FR", "09:00", "12:00"), ("MO,FR", "22:00", "02:00"),
    ]  # fmt: skip
    assert inn["contacts"][0]["phones"][0]["number"] == "+43 1"
    assert hsds(source, tmp_path) == [inn]  # the same ids again


def test_hsds_without_an_organisation_is_named_after_its_domain(tmp_path: Path) -> None:
    made = list(
        module.organisations("b.example", {"service": [row_of(7, "service", {"name": "S"})]})
    )
    assert [(one["name"], one["services"][0]["name"]) for one in made] == [("b.example", "S")]


def test_hsds_gives_a_service_to_the_organisation_that_provides_it() -> None:
    kinds: module.Kinds = {
        "organisation": [row_of(n, "organisation", {"name": name}) for n, name in enumerate("ABA")],
        "service": [row_of(8, "service", {"name": "S", "provider": " b "}),
                    row_of(9, "service", {"name": "T", "provider": "unknown"})],
    }  # fmt: skip
    made = {one["name"]: one for one in module.organisations("b.example", kinds)}
    assert [one["name"] for one in made["B"]["services"]] == ["S"]
    assert [one["name"] for one in made["A"]["services"]] == ["T"]  # stated twice: the main one


def test_hsds_has_what_its_schema_requires(source: Path, tmp_path: Path) -> None:
    for one in hsds(source, tmp_path):
        _require("organization", one)


def _require(name: str, item: dict[str, Any]) -> None:
    required, types = REQUIRED[name]
    assert required <= set(item), (name, item)
    for key, value in item.items():
        part = PARTS.get(key)
        if part is not None:
            for each in value:
                _require(part, each)
        else:
            assert isinstance(value, int | float if key in types else str), (name, key, value)
        if key == "id":
            assert str(UUID(value)) == value


@pytest.mark.skipif(
    not HSDS.exists(),
    reason="git clone https://github.com/openreferral/specification, then set "
    "MESSOR_HSDS_SCHEMA=specification/schema/compiled",
)
def test_hsds_is_valid_against_the_public_schema(source: Path, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")  # half a second that no other test needs
    schema = json.loads(HSDS.read_bytes())
    checker = jsonschema.Draft202012Validator(
        schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )
    faults = list(checker.iter_errors(hsds(source, tmp_path)))
    assert not faults, faults[0]
