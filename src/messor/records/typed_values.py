"""Values that people enter: converted to the type of the record's field, or refused with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any, get_args

import msgspec
from pydantic import ValidationError

from messor.content.evidence import NORMALISERS
from messor.content.kinds import KINDS
from messor.content.kinds.declaration import RecordKind
from messor.content.products.pool import NORMALISER_OF
from messor.content.schemas.base import Stated
from messor.errors import UsageError
from messor.parsers.page_findings import clean

MAX_CHARS = 4_000
PRODUCTS = frozenset(("product", "product_offer", "product_variant", "listed_product"))
_PROOF = {"method": "person:value", "quote": "value", "path": ""}


def field_names(kind: str) -> tuple[str, ...]:
    """The fields of a kind of record, in the order of its declaration; empty for unknown kinds."""
    declared = KINDS.get(kind)
    return tuple(declared.fields.model_fields) if declared else ()


def typed(kind: str, name: str, given: Any) -> Any:
    """The value of a field as its kind declares it.

    A text may be written as on the page ("1.299,00 EUR" is an amount) or as JSON.
    """
    declared = require_field(kind, name)
    if len(given if isinstance(given, str) else msgspec.json.encode(given)) > MAX_CHARS:
        raise UsageError(f"A value has at most {MAX_CHARS:,} characters.")
    if isinstance(given, str) and not given.strip():
        raise UsageError("Enter a value, or state that the page has none.")
    stated = _stated(declared, name)
    fault = None
    for candidate in _candidates(declared, name, given):
        try:
            value = stated.model_validate(
                {"value": candidate, "confidence": 1, "evidence": _PROOF}
            ).value
        except ValidationError as error:
            fault = fault or _fault(error)
            continue
        reason = declared.rules[name](value) if name in declared.rules else None
        if reason is None:
            return clean(msgspec.to_builtins(value))
        fault = reason
    shown = given if isinstance(given, str) else msgspec.json.encode(given).decode()
    raise UsageError(f"{shown[:60]!r} is not a valid {name} of a {kind.replace('_', ' ')}. {fault}")


def require_field(kind: str, name: str) -> RecordKind:
    """The declaration of a kind that has the field."""
    declared = KINDS.get(kind)
    if declared is None:
        raise UsageError(f"Records of kind {kind!r} cannot be corrected: it is not installed.")
    if name not in declared.fields.model_fields:
        names = ", ".join(field_names(kind))
        noun = kind.replace("_", " ")
        raise UsageError(f"Records of kind {noun} have no field {name[:60]!r}; they have {names}.")
    return declared


def _stated(declared: RecordKind, name: str) -> type[Stated[Any]]:
    """The model of a field: `Stated[…] | None`, without the None."""
    annotation = declared.fields.model_fields[name].annotation
    models = (annotation, *get_args(annotation))
    return next(one for one in models if isinstance(one, type) and issubclass(one, Stated))


def _candidates(declared: RecordKind, name: str, given: Any) -> Iterator[Any]:
    """Readings of what was entered: as a page's text, literally, and as JSON."""
    if not isinstance(given, str):
        yield given
        return
    text = given.strip()
    read = NORMALISERS.apply("html", _normaliser(declared, name), escape(text, quote=False))
    if read is not None:
        yield msgspec.to_builtins(read)
    yield text
    try:
        yield msgspec.json.decode(text)
    except msgspec.DecodeError:
        return


def _fault(error: ValidationError) -> str:
    first = error.errors()[0]
    if first["type"] == "string_pattern_mismatch":
        return "It does not have the required form."
    return f"{first['msg']}."


def _normaliser(declared: RecordKind, name: str) -> str:
    if declared.name in PRODUCTS and name in NORMALISER_OF:
        return NORMALISER_OF[name]
    return declared.normaliser(name)
