"""What a record kind is: one declaration, from which every other room derives its part.

A kind is one module of this folder with one `RecordKind`; `kinds.KINDS` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from messor.content.records import Record
from messor.content.schemas.base import FieldsModel, RecordModel
from messor.content.view import PageView

Finder = Callable[[PageView], list[Record]]
Rule = Callable[[Any], str | None]  # returns why a value is implausible

# Normalisers of fields that mean the same in every kind; others are short texts. None: a model is
# not asked, because it cannot see links and could invent one.
_SHARED: Mapping[str, str | None] = {
    **dict.fromkeys(("url", "logo", "profile")),
    "description": "long_text", "price": "money_amount", "currency": "money_currency",
    "deadline": "day", "email": "email", "phone": "phone", "fax": "phone", "country": "country",
}  # fmt: skip


@dataclass(frozen=True)
class RecordKind:
    """A kind of record: its fields, how it is told apart, shown, read, asked for and reported."""

    name: str
    fields: type[FieldsModel]
    # Identifying fields on one page; the first complete set is used. An empty one: a page has one.
    identity: tuple[tuple[str, ...], ...]
    # The field that names the record; without it on the page, a model's record is rejected.
    subject: str | None = None
    titles: tuple[str, ...] = ()  # fields shown as its title if the subject is not stated
    find: Finder | None = None  # None: read by the product parsers
    # What a model is asked for; None: it is not asked.
    prompt: str | None = None
    is_asked_without_vertical: bool = False
    normalisers: Mapping[str, str | None] = field(default_factory=dict)  # of its own fields
    derived: Mapping[str, str] = field(default_factory=dict)  # field: the field it follows from
    is_linked: bool = False  # whether the link around its subject is its URL
    is_eventful: bool = False  # whether changes and removals are events
    # Whether it only completes a record of another kind, so that a vertical cannot request it.
    is_part: bool = False
    rules: Mapping[str, Rule] = field(default_factory=dict)  # plausible values
    # Products are checked by rules alone, which are cheaper on shop pages.
    is_checked_by_schema: bool = True
    needs: tuple[str, ...] = ()  # fields without which a record is rejected, beside the schema
    needs_any: tuple[str, ...] = ()  # fields of which a record has at least one

    @cached_property
    def model(self) -> type[RecordModel[Any]]:
        """The pydantic model of a whole record."""
        return RecordModel[self.fields]  # type: ignore[name-defined] # a model made at run time

    @property
    def title_fields(self) -> tuple[str, ...]:
        """The fields that can be its title, by precedence."""
        return self.titles if self.subject is None else (self.subject, *self.titles)

    @property
    def asked_fields(self) -> tuple[str, ...]:
        """The fields a model is asked for, in schema order."""
        return tuple(name for name in self.fields.model_fields if self._normaliser(name))

    def normaliser(self, name: str) -> str:
        """Return the normaliser that derives a field's value from a quote."""
        return self._normaliser(name) or "text"

    def _normaliser(self, name: str) -> str | None:
        return self.normalisers.get(name, _SHARED.get(name, "text"))

    def problems(self, record: Record) -> list[str]:
        """Return the schema violations of a record as sentences; empty if it is valid."""
        try:
            self.model.model_validate(record.as_json())
        except ValidationError as error:
            return [
                f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}."
                for each in error.errors()
            ]
        return []
