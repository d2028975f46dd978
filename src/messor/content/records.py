"""Records: typed statements of a page, each field with its evidence.

A parser answers a list of them; how they are validated and stored is left to others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from messor.content.evidence import EvidencedField, supports


@dataclass(frozen=True, slots=True)
class Record:
    """A statement that a parser found on a page: `kind` is product, contact, event and so on."""

    kind: str
    confidence: float
    parser: str
    parser_version: str
    fields: Mapping[str, EvidencedField]

    def value(self, name: str) -> Any:
        """Return a field's value; None if the page does not state it."""
        field = self.fields.get(name)
        return None if field is None else field.value

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "confidence": round(self.confidence, 3),
            "parser": self.parser,
            "parser_version": self.parser_version,
            "fields": {name: field.as_json() for name, field in self.fields.items()},
        }


def unsupported(record: Record, decoded: str) -> list[str]:
    """Return the fields that a page's decoded text does not support; none with a correct parser."""
    return [name for name, field in record.fields.items() if not supports(field, decoded)]
