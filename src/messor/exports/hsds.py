"""Open Referral HSDS 3 of records: organisations with their services, locations, contacts and hours.

The document is an array of organisations, each as HSDS's own schema of an organisation asks. What a
page does not state is left out; what HSDS requires and no page states is an empty text. Records of a
domain belong together, so they are first sorted by domain in a file beside the target.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

import msgspec

from messor.errors import UnavailableError
from messor.exports.columns import Column
from messor.mail.server import is_address

Row = Mapping[str, Any]
Item = dict[str, Any]
Kinds = dict[str, list[Row]]

KINDS = frozenset(("organisation", "service", "contact", "opening_hours", "funding_program"))
BATCH = 1_000
MOST_PER_DOMAIN = 50_000  # records; one domain is in memory at a time
DAYS = {"monday": "MO", "tuesday": "TU", "wednesday": "WE", "thursday": "TH", "friday": "FR",
        "saturday": "SA", "sunday": "SU"}  # fmt: skip
ADDRESS = {
    "address_1": "street",
    "city": "locality",
    "state_province": "region",
    "postal_code": "postal_code",
    "country": "country",
}


def write(source: Path, target: Path, _: str, __: tuple[Column, ...]) -> None:
    """A document with one organisation per line."""
    sorting = target.with_name(f"{target.name}.sorting")
    try:
        with closing(sqlite3.connect(sorting, isolation_level=None)) as database:
            _sort(database, source)
            _write(database, target)
    except sqlite3.Error as error:
        raise UnavailableError(f"{target} cannot be written: {error}.") from error
    finally:
        sorting.unlink(missing_ok=True)


def _sort(database: sqlite3.Connection, source: Path) -> None:
    for setting in ("journal_mode = OFF", "synchronous = OFF", "temp_store = FILE"):
        database.execute(f"PRAGMA {setting}")
    database.execute("CREATE TABLE rows (domain TEXT, id INTEGER, row BLOB)")
    database.execute("BEGIN")
    with source.open("rb") as lines:
        for line in lines:
            row = msgspec.json.decode(line)
            if row["kind"] in KINDS:
                database.execute(
                    "INSERT INTO rows VALUES (?, ?, ?)", (row["domain"], row["id"], line)
                )
    database.execute("COMMIT")
    database.execute("CREATE INDEX rows_order ON rows (domain, id)")


def _write(database: sqlite3.Connection, target: Path) -> None:
    rows = database.execute("SELECT domain, row FROM rows ORDER BY domain, id")
    rows.arraysize = BATCH
    with target.open("wb") as file:
        file.write(b"[")
        separator = b"\n"
        for domain, found in groupby(rows, key=lambda row: row[0]):
            kinds: Kinds = defaultdict(list)
            for number, (_, line) in enumerate(found):
                if number < MOST_PER_DOMAIN:
                    row = msgspec.json.decode(line)
                    kinds[row["kind"]].append(row)
            for made in organisations(domain, kinds):
                file.write(separator + msgspec.json.encode(made))
                separator = b",\n"
        file.write(b"\n]\n")


def organisations(domain: str, kinds: Kinds) -> Iterator[Item]:
    """The organisations of a domain; what names no organisation belongs to the one stated most."""
    stated: dict[str, list[Row]] = defaultdict(list)
    for row in kinds.get("organisation", ()):
        stated[_key(row["data"].get("name") or domain)].append(row)
    main = max(stated, key=lambda key: (len(stated[key]), -stated[key][0]["id"]), default=None)
    if main is None:
        main, stated[_key(domain)] = _key(domain), []
    offered = _offers(kinds, stated.keys(), main)
    for key, rows in stated.items():
        made = _organisation(domain, key, rows)
        made["services"] = [_service(row, made["id"]) for row in offered.get(key, ())]
        if key == main:
            made["contacts"] = [_contact(row, made["id"]) for row in kinds.get("contact", ())]
            _add_hours(made, kinds.get("opening_hours", ()))
        yield {name: value for name, value in made.items() if value not in (None, [])}


def _offers(kinds: Kinds, known: Any, main: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for kind, by in (("service", "provider"), ("funding_program", "funder")):
        for row in kinds.get(kind, ()):
            if row["data"].get("name"):
                key = _key(row["data"].get(by) or "")
                found[key if key in known else main].append(row)
    return found


def _organisation(domain: str, key: str, rows: list[Row]) -> Item:
    """One organisation, from all records that state it: the first that states a field counts."""
    data: Item = {}
    for row in rows:
        data = {**{k: v for k, v in row["data"].items() if v}, **data}
    made = _id(f"https://{domain}/#organisation-{key}")
    founded = str(data.get("founded") or "")[:4]
    return {
        "id": made,
        "name": data.get("name") or domain,
        "alternate_name": data.get("legal_name"),
        "description": data.get("description") or "",
        "email": _email(data),
        "website": _link(data.get("url")) or f"https://{domain}/",
        "logo": data.get("logo"),
        "tax_id": data.get("vat_id"),
        "year_incorporated": int(founded) if founded.isdecimal() and len(founded) == 4 else None,
        "phones": _phones(made, data, {"organization_id": made}),
        "locations": _locations(made, data),
    }


def _service(row: Row, organisation: str) -> Item:
    data, made = row["data"], _id(f"{row['url']}#record-{row['id']}")
    found = {
        "id": made,
        "organization_id": organisation,
        "name": data["name"],
        "description": data.get("description"),
        "url": _link(data.get("url")) or row["url"],
        "status": "active" if row["state"] == "current" else "inactive",
        "eligibility_description": data.get("eligibility"),
        "last_modified": row["updated_at"],
        "service_areas": _areas(made, data.get("area") or data.get("region")),
        "cost_options": _costs(made, data) if "price" in data else None,
    }
    return _stated(found)


def _areas(service: str, area: Any) -> list[Item]:
    return [{"id": _id(f"{service}-area"), "service_id": service, "name": area}] if area else []


def _costs(service: str, data: Row) -> list[Item]:
    cost = {"id": _id(f"{service}-cost"), "service_id": service, "amount": data["price"]}
    return [_stated({**cost, "currency": data.get("currency")})]


def _contact(row: Row, organisation: str) -> Item:
    data, made = row["data"], _id(f"{row['url']}#record-{row['id']}")
    found = {
        "id": made,
        "organization_id": organisation,
        "name": data.get("name"),
        "title": data.get("role"),
        "email": _email(data),
        "phones": _phones(made, data, {"contact_id": made}),
    }
    return _stated(found)


def _phones(owner: str, data: Row, link: Mapping[str, str]) -> list[Item]:
    numbers = (("voice", data.get("phone") or data.get("phone_text")), ("fax", data.get("fax")))
    return [
        {"id": _id(f"{owner}-{kind}"), **link, "number": number, "type": kind}
        for kind, number in numbers
        if number
    ]


def _locations(organisation: str, data: Row) -> list[Item]:
    if not any(data.get(name) for name in ("street", "locality", "postal_code")):
        return []
    place = _place(organisation)
    # HSDS asks for every part of an address; what the page does not state is empty.
    address = {name: data.get(own) or "" for name, own in ADDRESS.items()}
    about = {"id": _id(f"{organisation}-address"), "location_id": place["id"]}
    return [{**place, "addresses": [{**about, **address, "address_type": "physical"}]}]


def _place(organisation: str) -> Item:
    made = _id(f"{organisation}-location")
    return {"id": made, "organization_id": organisation, "location_type": "physical"}


def _add_hours(organisation: Item, rows: Any) -> None:
    """Opening hours belong to the place; one without an address if none is stated."""
    found = [one for row in rows for one in _schedules(row)]
    if not found:
        return
    places = organisation["locations"] = organisation["locations"] or [_place(organisation["id"])]
    places[0]["schedules"] = [{**one, "location_id": places[0]["id"]} for one in found]


def _schedules(row: Row) -> Iterator[Item]:
    data = row["data"]
    days = [DAYS[day] for day in map(str.lower, data.get("days") or ()) if day in DAYS]
    spans = data.get("hours") or [{"opens": data.get("opens"), "closes": data.get("closes")}]
    for number, span in enumerate(spans):
        if days and span.get("opens") and span.get("closes"):
            found = {
                "id": _id(f"{row['url']}#record-{row['id']}-{number}"),
                "freq": "WEEKLY",
                "byday": ",".join(days),
                "opens_at": span["opens"],
                "closes_at": span["closes"],
                "valid_from": data.get("valid_from"),
                "valid_to": data.get("valid_through"),
            }
            yield _stated(found)


def _stated(item: Item) -> Item:
    return {name: value for name, value in item.items() if value not in (None, "", [])}


def _email(data: Row) -> str | None:
    text = str(data.get("email") or "")
    return text if is_address(text) else None


def _link(url: Any) -> str | None:
    return url if urlsplit(str(url or "")).scheme in ("http", "https") else None


def _key(name: str) -> str:
    return " ".join(name.casefold().split())


def _id(name: str) -> str:
    """The same id in every export."""
    return str(uuid5(NAMESPACE_URL, name))
