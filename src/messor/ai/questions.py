"""Questions to a model: the fields of each record kind as a JSON Schema, and its validation.

Every value is requested as it occurs on the page, so all are strings; the parsers' normalisers
derive values from them. Links are not requested: a model cannot see them, and an invented one could
exfiltrate data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from messor.content import kinds as content
from messor.content.kinds.declaration import RecordKind
from messor.errors import UsageError

MAX_RECORDS = 100
MAX_VALUE = 2_000

KINDS = tuple(kind.name for kind in content.KINDS.values() if kind.prompt)


def kind_of(name: str) -> RecordKind:
    """Return a kind that a model can be asked for."""
    if name not in KINDS:
        raise UsageError(
            f"There is no kind of record called {name!r}; available: {', '.join(KINDS)}."
        )
    return content.KINDS[name]


def answer_schema(kinds: Sequence[str]) -> dict[str, Any]:
    """Return the JSON Schema of an answer, in the strict form that endpoints require."""
    text = {"type": ["string", "null"]}
    properties: dict[str, Any] = {}
    for kind in kinds:
        names = kind_of(kind).asked_fields
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
    return "\n".join(f"- {kind}: {kind_of(kind).prompt}" for kind in kinds)


def check_answer(kinds: Sequence[str], value: Any) -> str | None:
    """Return why a value is not a valid answer, None if it is. A missing kind or field states
    nothing.
    """
    if not isinstance(value, dict) or not set(value) <= set(kinds):
        return "the answer is not an object of the kinds asked for"
    for kind, records in value.items():
        if not isinstance(records, list) or len(records) > MAX_RECORDS:
            return f"{kind} is not a list of at most {MAX_RECORDS} records"
        names = set(kind_of(kind).asked_fields)
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
