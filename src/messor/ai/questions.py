"""Questions to a model: the fields of each record kind as a JSON Schema, and its validation.

Every value is requested as it occurs on the page, so all are strings; the parsers' normalisers
derive values from them. Links are not requested: a model cannot see them, and an invented one could
exfiltrate data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel

from messor.content.schemas import SCHEMAS
from messor.content.schemas.products import ProductFields
from messor.errors import UsageError

MAX_RECORDS = 100
MAX_VALUE = 2_000

# Normaliser by field; others are short texts. None: not requested.
_LONG = dict.fromkeys(("description", "answer", "eligibility"), "long_text")
_MONEY = dict.fromkeys(
    ("price", "list_price", "discount_amount", "amount", "salary"), "money_amount"
)
_DAYS = dict.fromkeys(
    ("valid_until", "valid_from", "valid_through", "deadline", "published"), "day"
)
_UNASKED = dict.fromkeys(("url", "logo", "network", "profile", "form_action", "form_message"))
NORMALISER_OF: Mapping[str, str | None] = {
    **_LONG, **_MONEY, **_DAYS, **_UNASKED,
    "currency": "money_currency", "discount_percent": "percent", "start": "date", "end": "date",
    "opens": "time", "closes": "time", "days": "days", "hours": "hours", "action": "action",
    "type": "opportunity", "email": "email", "phone": "phone", "fax": "phone", "country": "country",
    "unit": "unit", "availability": "availability", "sku": "sku", "gtin": "gtin", "rating": "rating",
    "review_count": "count", "brand": "brand", "condition": "condition",
}  # fmt: skip
_MEANT = {
    "offer": "a reduction, a free first step or a deal that the page promises",
    "call_to_action": "a button or link that asks the visitor to do something",
    "product": "the one thing that the page sells",
    "price_item": "an item of a price list or a menu",
    "funding_program": "a grant, loan or fund that one can apply for",
    "opportunity": "a job, scholarship, tender or the like that one can apply for",
    "opening_hours": "days and the hours at which a place is open on them",
}

KINDS = (*SCHEMAS, "product") if "product" not in SCHEMAS else tuple(SCHEMAS)


def fields_of(kind: str) -> tuple[str, ...]:
    """Return the requested fields, in schema order."""
    return tuple(
        name for name in _model(kind).model_fields if NORMALISER_OF.get(name, "text") is not None
    )


def normaliser_of(name: str) -> str:
    return NORMALISER_OF.get(name, "text") or "text"


@cache
def _model(kind: str) -> type[BaseModel]:
    if kind not in KINDS:
        raise UsageError(
            f"There is no kind of record called {kind!r}; available: {', '.join(KINDS)}."
        )
    if kind not in SCHEMAS:
        return ProductFields
    annotation = SCHEMAS[kind].model_fields["fields"].annotation
    found = annotation if isinstance(annotation, type) else get_args(annotation)[0]
    assert issubclass(found, BaseModel)
    return found


def answer_schema(kinds: Sequence[str]) -> dict[str, Any]:
    """Return the JSON Schema of an answer, in the strict form that endpoints require."""
    text = {"type": ["string", "null"]}
    properties: dict[str, Any] = {}
    for kind in kinds:
        names = fields_of(kind)
        properties[kind] = {
            "type": "array",
            "items": _strict(dict.fromkeys(names, text)),
        }
    return _strict(properties)


def _strict(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def described(kinds: Sequence[str]) -> str:
    """Describe the kinds for people and models, one line each."""
    return "\n".join(f"- {kind}: {_MEANT.get(kind, kind.replace('_', ' '))}" for kind in kinds)


def check_answer(kinds: Sequence[str], value: Any) -> str | None:
    """Return why a value is not a valid answer, None if it is. A missing kind or field states
    nothing.
    """
    if not isinstance(value, dict) or not set(value) <= set(kinds):
        return "the answer is not an object of the kinds asked for"
    for kind, records in value.items():
        if not isinstance(records, list) or len(records) > MAX_RECORDS:
            return f"{kind} is not a list of at most {MAX_RECORDS} records"
        names = set(fields_of(kind))
        for record in records:
            wrong = _check_record(kind, names, record)
            if wrong is not None:
                return wrong
    return None


def _check_record(kind: str, names: set[str], record: Any) -> str | None:
    if not isinstance(record, dict) or not set(record) <= names:
        return f"a record of {kind} has fields that were not asked for"
    for name, value in record.items():
        if value is not None and not (isinstance(value, str) and len(value) <= MAX_VALUE):
            return f"{kind}.{name} is not a text of at most {MAX_VALUE} characters"
    return None
