"""Validation: implausible or unproven fields are dropped, which lowers a record's confidence.

Each dropped field has a reason. A record that loses its subject is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from math import isfinite
from typing import Any, NamedTuple

from messor.content.records import Record, unsupported
from messor.content.schemas import SCHEMAS, problems

MAX_PRICE = 100_000_000
UNPROVEN = "Its quote is not on the page, or does not say this."
# Factor applied to a record's confidence for each dropped field.
_DOUBT = 0.85
_FAULTY = re.compile(r"fields\.(\w+)")
_CURRENCY = re.compile(r"[A-Z]{3}")
STATES = frozenset(
    (
        "in_stock", "out_of_stock", "preorder", "pre_order", "backorder", "discontinued",
        "limited", "in_store_only", "online_only", "sold_out",
    )
)  # fmt: skip


class Rejected(NamedTuple):
    """A rejected field, or a whole record if the name is empty."""

    kind: str
    field: str
    reason: str


Rule = Callable[[Any], str | None]


def validated(
    records: Iterable[Record], decoded: str | None = None
) -> tuple[list[Record], list[Rejected]]:
    """Return the accepted records, and what was rejected with the reasons.

    If the page's `decoded` text is given, fields must be proven by it.
    """
    good: list[Record] = []
    rejected: list[Rejected] = []
    for record in records:
        kept, reasons = _checked(record, decoded)
        rejected += reasons
        if kept is not None:
            good.append(kept)
    return good, rejected


def _checked(record: Record, decoded: str | None) -> tuple[Record | None, list[Rejected]]:
    reasons = _unbelievable(record)
    if decoded is not None:
        reasons += _unproven(_without(record, reasons), decoded)
    kept = _without(record, reasons)
    wrong = problems(kept) if record.kind in SCHEMAS else []
    if wrong:
        reasons += _out_of_form(kept, wrong)
        kept = _without(record, reasons)
        wrong = problems(kept)
    reason = _whole(kept, wrong)
    if reason is not None:
        return None, [*reasons, Rejected(record.kind, "", reason)]
    return kept, reasons


def _unbelievable(record: Record) -> list[Rejected]:
    """Return the implausible fields."""
    found = []
    for name, rule in _RULES.get(record.kind, {}).items():
        field = record.fields.get(name)
        reason = None if field is None else rule(field.value)
        if reason is not None:
            found.append(Rejected(record.kind, name, reason))
    return found


def _unproven(record: Record, decoded: str) -> list[Rejected]:
    """Return the fields whose quote is not on the page or does not yield their value."""
    return [Rejected(record.kind, name, UNPROVEN) for name in unsupported(record, decoded)]


def _out_of_form(record: Record, wrong: list[str]) -> list[Rejected]:
    """Return the fields that violate the schema of their kind."""
    found: dict[str, Rejected] = {}
    for problem in wrong:
        name = _FAULTY.match(problem)
        if name is not None and name[1] in record.fields:
            found.setdefault(name[1], Rejected(record.kind, name[1], problem))
    return list(found.values())


def _without(record: Record, reasons: list[Rejected]) -> Record:
    """Return the record without rejected fields, with reduced confidence."""
    if not reasons:
        return record
    gone = {reason.field for reason in reasons}
    fields = {name: field for name, field in record.fields.items() if name not in gone}
    return replace(record, fields=fields, confidence=record.confidence * _DOUBT ** len(gone))


def _whole(record: Record, wrong: list[str]) -> str | None:
    """Return why a whole record is rejected; None if it is accepted."""
    if not record.fields:
        return "No field of it can be believed."
    if record.kind == "image" and "url" not in record.fields:
        return "An image without an address is none."
    return " ".join(wrong[:3]) or None


def _price(value: Any) -> str | None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not isfinite(value):
        return "A price has to be a number."
    if value < 0:
        return "A price is not below zero."
    return f"A price of {value:g} is beyond belief." if value > MAX_PRICE else None


def _currency(value: Any) -> str | None:
    good = isinstance(value, str) and _CURRENCY.fullmatch(value)
    return None if good else "A currency has three capital letters."


def _within(lowest: float, highest: float, noun: str) -> Rule:
    def rule(value: Any) -> str | None:
        good = isinstance(value, int | float) and lowest <= value <= highest
        return None if good else f"{noun} lies between {lowest:g} and {highest:g}."

    return rule


def _availability(value: Any) -> str | None:
    return None if value in STATES else "This state of stock is not known."


def _name(value: Any) -> str | None:
    good = isinstance(value, str) and any(map(str.isalnum, value))
    return None if good else "A name has letters or digits."


_MONEY: dict[str, Rule] = {
    "price": _price,
    "list_price": _price,
    "currency": _currency,
    "availability": _availability,
}
_RULES: dict[str, dict[str, Rule]] = {
    "product": {
        **_MONEY,
        "product_name": _name,
        "brand": _name,
        "rating": _within(0, 100, "A rating"),
        "review_count": _within(0, 1_000_000_000, "A number of reviews"),
    },
    "product_offer": _MONEY,
    "product_variant": _MONEY,
}
