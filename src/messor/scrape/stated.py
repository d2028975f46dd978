"""What a page states as records, in the shapes that programs ask for; nothing is invented."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from messor.scrape.refusals import FormatUnavailableError, OptionRefusedError

PAGE = "page"  # the kind of what a page states of itself: its title, description and language
Stated = Sequence[tuple[str, Mapping[str, Any]]]  # kind and values of each record

_IN_STOCK = frozenset(("in_stock", "instock", "limited", "limited_availability", "preorder"))


def product_of(stated: Stated, url: str, title: str | None) -> dict[str, Any] | None:
    """The page's product with one variant; None if it states none."""
    found = next((data for kind, data in stated if kind == "product"), None)
    if found is None:
        return None
    name = found.get("product_name") or found.get("name") or title
    if not name:
        return None
    plain = {one: found[one] for one in ("brand", "category", "description") if found.get(one)}
    variant: dict[str, Any] = {
        one: str(found[one]) for one in ("sku", "gtin") if found.get(one) is not None
    }
    price = _price(found)
    if price is not None:
        variant["price"] = price
    availability = found.get("availability")
    variant["availability"] = _availability(availability)
    return {"title": name, "url": url, **plain, "variants": [variant]}


def menu_of(stated: Stated, url: str, title: str | None) -> dict[str, Any] | None:
    """The page's menu or price list by its sections; None if it states none."""
    items = [data for kind, data in stated if kind == "price_item"]
    if not items:
        return None
    sections: dict[str, list[dict[str, Any]]] = {}
    for number, item in enumerate(items, 1):
        made: dict[str, Any] = {
            "id": str(number),
            "name": item.get("name"),
            "availability": _availability(None),
            "sourceUrl": url,
        }
        if item.get("description"):
            made["description"] = item["description"]
        if (price := _price(item)) is not None:
            made["price"] = price
        sections.setdefault(item.get("section") or "", []).append(made)
    merchant = next(
        (data["name"] for kind, data in stated if kind == "organisation" and data.get("name")),
        title or url,
    )
    return {
        "isMenu": True,
        "confidence": 1.0,
        "merchant": {"name": merchant},
        "sections": [
            {"id": str(at), "name": name or "Menu", "items": found}
            for at, (name, found) in enumerate(sections.items(), 1)
        ],
        "sourceUrl": url,
    }


def _price(data: Mapping[str, Any]) -> dict[str, Any] | None:
    try:
        amount = float(data["price"])
    except (KeyError, TypeError, ValueError):
        return None
    currency = data.get("currency")
    return {"amount": amount, **({"currency": currency} if currency else {})}


def _availability(text: Any) -> dict[str, Any]:
    """Whether it can be had; what does not say is offered."""
    if not text:
        return {"inStock": True}
    return {"inStock": str(text).lower().replace(" ", "_") in _IN_STOCK, "text": str(text)}


def fitted(schema: Mapping[str, Any] | None, stated: Stated, url: str) -> Any:
    """Records in the shape of a schema: its properties by name."""
    records = [(kind, data) for kind, data in stated if kind != PAGE]
    if schema is None:
        if not records:
            raise FormatUnavailableError(
                f"{url} states no records, and no model is asked for more."
            )
        return {"records": [{"kind": kind, **data} for kind, data in records]}
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        raise OptionRefusedError("The schema of `json` needs properties at its top level.")
    values: dict[str, Any] = {}
    for name in properties:
        value = _value_of(name, stated)
        if value is not None:
            values[name] = value
    if not values:
        kinds = ", ".join(sorted({kind for kind, _ in records})) or "none"
        raise FormatUnavailableError(
            f"No record of {url} has the properties of the schema (kinds of record there: {kinds})."
        )
    return values


def _value_of(name: str, stated: Stated) -> Any:
    plain = _folded(name)
    for kind, data in stated:
        for field_name, value in data.items():
            if value is not None and plain in (
                _folded(field_name),
                _folded(f"{kind}_{field_name}"),
            ):
                return value
            # `name` and `title` of a schema are a record's own name: product_name.
            if plain in ("name", "title") and field_name == f"{kind}_name":
                return value
    return None


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
