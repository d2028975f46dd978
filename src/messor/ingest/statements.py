"""Statements: records of a run's pages as items of tiles, each with its evidence.

A record that several pages repeat, such as the phone number of a footer, is shown once: on the page
whose category fits its kind, or else on the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from messor.content.kinds import KINDS
from messor.records.queries import PageRecord
from messor.records.titles import title_of

# Kinds that say nothing by themselves: images, and parts of products.
UNTOLD = ("image", *(kind.name for kind in KINDS.values() if kind.is_part))
# Categories of pages where a kind belongs, best first.
HOMES: Mapping[str, tuple[str, ...]] = {
    "contact": ("contact", "about"),
    "opening_hours": ("contact", "about"),
    "organisation": ("about", "contact"),
    "price_item": ("menu", "pricing", "services"),
    "offer": ("pricing", "products"),
    "service": ("services",),
    "product": ("products",),
    "faq": ("faq",),
}
_CONTACT = (
    "name", "role", "phone", "phone_text", "fax", "email", "street", "postal_code", "locality",
    "region", "country", "network", "profile", "form_action",
)  # fmt: skip

Item = dict[str, Any]


def statements_of(
    records: Iterable[PageRecord], pages: Sequence[tuple[int, str, str]]
) -> dict[int, list[Item]]:
    """Items by page; `pages` are page, URL and category, in the order of their tiles."""
    place = {page_id: number for number, (page_id, _, _) in enumerate(pages)}
    best: dict[tuple[str, bytes], PageRecord] = {}
    for record in records:
        if record.page_id not in place or record.kind in UNTOLD:
            continue
        key = record.kind, msgspec.json.encode(record.data, order="sorted")
        other = best.setdefault(key, record)
        if _rank(record, pages, place) < _rank(other, pages, place):
            best[key] = record
    items: dict[int, list[Item]] = {}
    for record in sorted(best.values(), key=lambda each: each.id):
        _, url, _ = pages[place[record.page_id]]
        items.setdefault(record.page_id, []).append(_item(record, url))
    return items


def _rank(
    record: PageRecord, pages: Sequence[tuple[int, str, str]], place: Mapping[int, int]
) -> tuple[int, int]:
    """How well a page suits a record; lower is better."""
    homes = HOMES.get(record.kind, ())
    number = place[record.page_id]
    category = pages[number][2]
    return homes.index(category) if category in homes else len(homes), number


def _item(record: PageRecord, url: str) -> Item:
    return {
        "kind": record.kind,
        "text": text_of(record.kind, record.data),
        "data": record.data,
        "recordId": record.id,
        "evidence": [
            {"field": name, **proof}
            for name, proof in record.evidence.items()
            if name in record.data
        ],
        "sourceUrl": url,
        "snapshotId": record.snapshot_id,
        "confidence": round(record.confidence, 2),
    }


def text_of(kind: str, data: Mapping[str, Any]) -> str:
    """A record in one line."""
    write = _WRITERS.get(kind)
    return (write(data) if write else "") or title_of(kind, data)


def _contact(data: Mapping[str, Any]) -> str:
    return ", ".join(str(data[name]) for name in _CONTACT if data.get(name))


def _hours(data: Mapping[str, Any]) -> str:
    spans = data.get("hours")
    if spans is None:
        spans = [{"opens": data.get("opens"), "closes": data.get("closes")}]
    hours = ", ".join(f"{span['opens']}-{span['closes']}" for span in spans) or "closed"
    return f"{', '.join(data['days'])}: {hours}"


def _faq(data: Mapping[str, Any]) -> str:
    return f"{data['question']} {data['answer']}"


def _priced(kind: str) -> Callable[[Mapping[str, Any]], str]:
    def write(data: Mapping[str, Any]) -> str:
        title, price = title_of(kind, data), data.get("price")
        if price is None:
            return title
        amount = " ".join(filter(None, (f"{price:.2f}", data.get("currency"))))
        return f"{title}: {amount}{f' per {unit}' if (unit := data.get('unit')) else ''}"

    return write


_WRITERS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "contact": _contact,
    "opening_hours": _hours,
    "faq": _faq,
    **{kind: _priced(kind) for kind in ("price_item", "service", "offer", "product", "event")},
}
