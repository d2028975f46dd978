"""schema.org JSON-LD of records: one graph, with a node for each record whose kind has a type there.

Only properties that schema.org defines for the type are written; the page that states a record is
its `mainEntityOfPage`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from messor.exports.columns import Column

Row = Mapping[str, Any]
Node = dict[str, Any]

_ADDRESS = {
    "streetAddress": "street",
    "postalCode": "postal_code",
    "addressLocality": "locality",
    "addressRegion": "region",
    "addressCountry": "country",
}


def write(source: Path, target: Path, _: str, __: tuple[Column, ...]) -> None:
    """A document whose graph has one node per line."""
    with source.open("rb") as rows, target.open("wb") as file:
        file.write(b'{"@context": "https://schema.org", "@graph": [')
        separator = b"\n"
        for line in rows:
            if (made := node(msgspec.json.decode(line))) is not None:
                file.write(separator + msgspec.json.encode(made))
                separator = b",\n"
        file.write(b"\n]}\n")


def node(row: Row) -> Node | None:
    """The node of a record; None for kinds without a type in schema.org."""
    make = _TYPES.get(row["kind"])
    if make is None:
        return None
    found = {
        "@type": None,
        "@id": f"{row['url']}#record-{row['id']}",
        "mainEntityOfPage": row["url"],
        **make(row["data"]),
    }
    return {name: value for name, value in found.items() if value not in (None, "", [], {})}


def _renamed(data: Row, names: Mapping[str, str]) -> Node:
    return {name: data.get(own) for name, own in names.items()}


def _address(data: Row) -> Node | None:
    found = {name: value for name, value in _renamed(data, _ADDRESS).items() if value}
    return {"@type": "PostalAddress", **found} if found else None


def _named(kind: str, name: Any) -> Node | None:
    return {"@type": kind, "name": name} if name else None


def _offer(data: Row, key: str = "price") -> Node | None:
    if data.get(key) is None:
        return None
    found = {"@type": "Offer", "price": data[key], "priceCurrency": data.get("currency")}
    return {name: value for name, value in found.items() if value is not None}


def _money(data: Row, key: str) -> Node | None:
    if data.get(key) is None:
        return None
    found = {"@type": "MonetaryAmount", "value": data[key], "currency": data.get("currency")}
    return {name: value for name, value in found.items() if value is not None}


def _organisation(data: Row) -> Node:
    names = {
        "name": "name", "legalName": "legal_name", "description": "description", "url": "url",
        "email": "email", "telephone": "phone", "vatID": "vat_id", "logo": "logo",
        "foundingDate": "founded",
    }  # fmt: skip
    return {"@type": "Organization", **_renamed(data, names), "address": _address(data)}


def _event(data: Row) -> Node:
    names = {
        "name": "name", "startDate": "start", "endDate": "end", "description": "description",
        "url": "url",
    }  # fmt: skip
    place = {"@type": "Place", "name": data.get("location"), "address": _address(data)}
    known = {name: value for name, value in place.items() if value}
    return {
        "@type": "Event",
        **_renamed(data, names),
        "location": known if len(known) > 1 else None,
        "organizer": _named("Organization", data.get("organiser")),
        "offers": _offer(data),
    }


def _service(data: Row) -> Node:
    names = {"name": "name", "description": "description", "url": "url", "areaServed": "area"}
    provider = _named("Organization", data.get("provider"))
    return {
        "@type": "Service", **_renamed(data, names), "provider": provider, "offers": _offer(data)
    }  # fmt: skip


def _product(data: Row) -> Node:
    names = {
        "name": "name", "description": "description", "sku": "sku", "gtin": "gtin",
        "category": "category", "url": "url",
    }  # fmt: skip
    brand = _named("Brand", data.get("brand"))
    return {"@type": "Product", **_renamed(data, names), "brand": brand, "offers": _offer(data)}


def _grant(data: Row) -> Node:
    names = {"name": "name", "description": "description", "url": "url"}
    return {
        "@type": "MonetaryGrant",
        **_renamed(data, names),
        "funder": _named("Organization", data.get("funder")),
        "amount": _money(data, "amount"),
    }


def _posting(data: Row) -> Node:
    names = {
        "title": "title", "description": "description", "url": "url",
        "employmentType": "employment_type", "datePosted": "published", "validThrough": "deadline",
    }  # fmt: skip
    return {
        "@type": "JobPosting",
        **_renamed(data, names),
        "hiringOrganization": _named("Organization", data.get("organisation")),
        "jobLocation": _named("Place", data.get("location")),
        "baseSalary": _money(data, "salary"),
    }


def _contact(data: Row) -> Node:
    names = {
        "name": "name", "contactType": "role", "email": "email", "telephone": "phone",
        "faxNumber": "fax", "url": "profile",
    }  # fmt: skip
    return {"@type": "ContactPoint", **_renamed(data, names)}


def _hours(data: Row) -> Node:
    spans = data.get("hours") or [{"opens": data.get("opens"), "closes": data.get("closes")}]
    first = spans[0]
    names = {"validFrom": "valid_from", "validThrough": "valid_through"}
    days = [f"https://schema.org/{str(day).capitalize()}" for day in data.get("days") or ()]
    return {
        "@type": "OpeningHoursSpecification",
        "dayOfWeek": days,
        "opens": first.get("opens"),
        "closes": first.get("closes"),
        **_renamed(data, names),
    }


_TYPES: dict[str, Callable[[Row], Node]] = {
    "organisation": _organisation,
    "event": _event,
    "service": _service,
    "product": _product,
    "funding_program": _grant,
    "opportunity": _posting,
    "contact": _contact,
    "opening_hours": _hours,
}
